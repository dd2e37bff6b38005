/** The made-up content of a seeded instance. */

export type SeedUser = { username: string; name: string };
export type SeedGroup = { path: string; name: string; parent?: string; members: Record<string, number> };
export type SeedIssue = {
  title: string;
  description: string;
  author: string;
  assignee?: string;
  labels?: string;
  comments?: [author: string, body: string][];
  closed?: true;
};
export type SeedMergeRequest = {
  branch: string;
  title: string;
  author: string;
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
  files: Record<string, string>;
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

const bridge: SeedProject = {
  path: 'bridge',
  namespace: 'workshop',
  name: 'Bridge',
  visibility: 'public',
  author: 'ada',
  files: {
    'README.md': '# Bridge\n\nA bridge that is built in public.\n',
    'deck.txt': 'plank\nplank\nplank\n',
    'src/span.js': 'export const span = (planks) => planks * 0.2;\n',
    '.gitlab-ci.yml': ci,
  },
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

const crane: SeedProject = {
  path: 'crane',
  namespace: 'workshop/tools',
  name: 'Crane',
  visibility: 'internal',
  author: 'chidi',
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
  files: { 'notes.md': '# Notes\n\nOnly Ada reads these.\n' },
  labels: [],
  issues: [{ title: 'Order planks', description: 'Twelve, oak.', author: 'ada' }],
  mergeRequests: [],
};

export const projects: SeedProject[] = [bridge, crane, notebook];
