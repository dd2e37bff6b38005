/** The made-up content of a seeded instance. */

export type SeedUser = { username: string; name: string };
export type SeedGroup = { path: string; name: string; parent?: string; members: Record<string, number> };
export type SeedIssue = {
  title: string;
  description: string;
  author: string;
  assignee?: string;
  labels?: string;
  milestone?: string;
  comments?: [author: string, body: string][];
  closed?: true;
};
export type SeedMergeRequest = {
  branch: string;
  title: string;
  author: string;
  description?: string;
  labels?: string;
  /** User names. */
  reviewers?: string[];
  files: Record<string, string>;
  comments?: [author: string, body: string][];
  merged?: true;
};
export type SeedProject = {
  path: string;
  namespace: string;
  name: string;
  visibility: 'private' | 'internal' | 'public';
  author: string;
  description: string;
  topics: string[];
  files: Record<string, string>;
  /** Later commits on `main`: new files, each by its author. */
  history: { author: string; message: string; files: Record<string, string> }[];
  milestones: { title: string; due_date: string }[];
  releases: { tag_name: string; name: string; description: string }[];
  stars: string[];
  labels: [name: string, color: string][];
  issues: SeedIssue[];
  mergeRequests: SeedMergeRequest[];
};

export const users: SeedUser[] = [
  { username: 'ada', name: 'Ada Example' },
  { username: 'bela', name: 'Béla Example' },
  { username: 'chidi', name: 'Chidi Example' },
];

const [developer, master, owner] = [30, 40, 50];

export const groups: SeedGroup[] = [
  { path: 'workshop', name: 'Workshop', members: { ada: owner, bela: master, chidi: developer } },
  { path: 'tools', name: 'Tools', parent: 'workshop', members: { chidi: master } },
];

const ci = `stages: [build, test]

compile:
  stage: build
  script:
    - mkdir -p out
    - cp deck.txt out/
  artifacts:
    paths: [out]

walk:
  stage: test
  script:
    - test -s out/deck.txt
    - echo "it holds"

publish:
  stage: test
  when: manual
  script: [echo published]
`;

const readme = `# Bridge

Plans, parts and loads of the footbridge. Runs in Node, and as a library:

\`\`\`js
import { span } from './src/span.js';

console.log(span(12)); // metres
\`\`\`

## What it carries

| People | Planks | Deflection |
|---:|---:|---:|
| 1 | 3 | 4 mm |
| 5 | 12 | 11 mm |

- [x] Set the posts
- [ ] Add handrails, see #2

The loads are explained in [docs/loads.md](docs/loads.md).
`;

const span = `/** Width of a plank in metres. */
const plankWidth = 0.2;

/**
 * Returns the length that a number of planks spans, in metres.
 * @throws RangeError if there are no planks
 */
export const span = (planks) => {
  if (planks < 1) throw new RangeError('a bridge has planks');
  return planks * plankWidth;
};
`;

const spanTest = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { span } from '../src/span.js';

test('spans as many widths as there are planks', () => {
  assert.equal(span(1), 0.2);
  assert.throws(() => span(0), RangeError);
});
`;

const loads = `# Loads

Each plank carries 120 kg. Two people on one plank are too many: see the notice at both ends.
`;

const bridge: SeedProject = {
  path: 'bridge',
  namespace: 'workshop',
  name: 'Bridge',
  visibility: 'public',
  author: 'ada',
  description: 'Plans, parts and loads of the footbridge, built in public.',
  topics: ['footbridge', 'timber'],
  files: {
    'README.md': readme,
    'deck.txt': 'plank\nplank\nplank\n',
    'src/span.js': span,
    '.gitlab-ci.yml': ci,
  },
  history: [
    { author: 'bela', message: 'Explain the load table', files: { 'docs/loads.md': loads } },
    {
      author: 'ada',
      message: 'Test spans of one and of many planks',
      files: {
        'test/span.test.js': spanTest,
        'package.json': '{\n  "name": "bridge",\n  "type": "module"\n}\n',
      },
    },
  ],
  milestones: [{ title: '1.1', due_date: '2030-05-01' }],
  releases: [
    {
      tag_name: 'v1.0',
      name: 'First crossing',
      description:
        'The bridge carries **five people**.\n\n- Posts are set in stone\n- The deck has three planks',
    },
  ],
  stars: ['bela', 'chidi'],
  labels: [
    ['bug', '#d9534f'],
    ['feature', '#428bca'],
    ['urgent', '#f0ad4e'],
  ],
  issues: [
    {
      title: 'The third plank creaks',
      description: 'It creaks when two people cross at once.\n\n- [x] find the plank\n- [ ] replace it',
      author: 'chidi',
      assignee: 'bela',
      labels: 'bug,urgent',
      milestone: '1.1',
      comments: [
        ['bela', 'I hear it, too. @ada, do we have spare planks?'],
        ['ada', 'There are three in the shed.'],
      ],
    },
    {
      title: 'Add handrails',
      description: 'On both sides, 110 cm high.',
      author: 'ada',
      assignee: 'chidi',
      labels: 'feature',
    },
    { title: 'Paint the posts', description: 'Green, as agreed.', author: 'bela', closed: true },
  ],
  mergeRequests: [
    {
      branch: 'handrails',
      title: 'Add handrails',
      author: 'chidi',
      description:
        'Rails on both sides, 110 cm high.\n\n- [x] Left side\n- [ ] Right side\n\nThe drawing is in `rails.txt`.',
      labels: 'feature',
      reviewers: ['ada', 'bela'],
      files: { 'rails.txt': 'rail left\nrail right\n' },
      comments: [['ada', 'Please note the height in the file.']],
    },
    {
      branch: 'paint',
      title: 'Paint the posts green',
      author: 'bela',
      files: { 'posts.txt': 'green\n' },
      merged: true,
    },
    {
      branch: 'wider-deck',
      title: 'Draft: Make the deck wider',
      author: 'ada',
      files: { 'deck-extension.txt': 'plank\n' },
    },
  ],
};

const nothingMore = { topics: [], history: [], milestones: [], releases: [], stars: [] };

const crane: SeedProject = {
  path: 'crane',
  namespace: 'workshop/tools',
  name: 'Crane',
  visibility: 'internal',
  author: 'chidi',
  description: 'Lifts what the bridge is made of.',
  ...nothingMore,
  files: { 'README.md': '# Crane\n\nLifts what the bridge is made of.\n', 'load.txt': '500 kg\n' },
  labels: [['bug', '#d9534f']],
  issues: [{ title: 'The hook sticks', description: 'In wet weather.', author: 'bela', labels: 'bug' }],
  mergeRequests: [],
};

const notebook: SeedProject = {
  path: 'notebook',
  namespace: 'ada',
  name: 'Notebook',
  visibility: 'private',
  author: 'ada',
  description: 'Notes about planks.',
  ...nothingMore,
  files: { 'notes.md': '# Notes\n\nOnly Ada reads these.\n' },
  labels: [],
  issues: [{ title: 'Order planks', description: 'Twelve, oak.', author: 'ada' }],
  mergeRequests: [],
};

export const projects: SeedProject[] = [bridge, crane, notebook];
