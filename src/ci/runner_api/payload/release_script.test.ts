/** Tests the release step by running it in a shell. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { buildReleaseScript } from './release_script.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-release-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Writes a program that records its arguments, one a line, and its input. */
const fake = (name: string): void => {
  const path = join(folder, name);
  const note = `printf '%s\\n' "$@" >> ${folder}/${name}.words`;
  const read =
    name === 'curl' ? `\nwhile IFS= read -r line; do printf '%s\\n' "$line"; done > ${folder}/read` : '';
  writeFileSync(path, `#!/bin/bash\n${note}${read}\n`);
  chmodSync(path, 0o755);
};

const variables: Record<string, string> = {
  CI_COMMIT_SHA: 'abc',
  CI_COMMIT_TAG: 'v1',
  CI_JOB_TOKEN: 'secret',
  CI_API_V4_URL: 'https://example.com/api/v4',
  CI_PROJECT_ID: '7',
  CI_PROJECT_PATH: 'group/project',
  CI_SERVER_FQDN: 'example.com',
  CI_SERVER_PROTOCOL: 'https',
  CI_SERVER_URL: 'https://example.com',
  TITLE: 'two words',
};

const runLines = (lines: string[]) => {
  const script = ['set -eo pipefail', ...lines].join('\n');
  const env = { PATH: folder, ...variables };
  return spawnSync('/bin/bash', ['-c', script], { cwd: folder, env, encoding: 'utf8' });
};

const run = (release: object, shell: string | null = 'bash') => runLines(buildReleaseScript(release, shell));

/** Expands the job's variables, and others to nothing, as gitlab-runner does in this step before it starts the shell. */
const expand = (line: string): string =>
  line.replaceAll(/\$(?:\{(\w+)\}|([A-Za-z_]\w*))/g, (_all, braced, bare) => variables[braced ?? bare] ?? '');

const wordsOf = (name: string): string[] =>
  readFileSync(join(folder, `${name}.words`), 'utf8')
    .trimEnd()
    .split('\n');

const whole = {
  tag_name: '$CI_COMMIT_TAG',
  tag_message: 'a tag',
  name: 'Release $TITLE',
  description: 'What is new',
  released_at: '2026-03-04T05:06:07Z',
  milestones: ['m 1', 'm2'],
  assets: { links: [{ name: 'of $TITLE', url: 'https://example.com/a', filepath: '/a' }] },
};

test('calls release-cli where it is installed, with variables expanded', () => {
  for (const name of ['release-cli', 'curl', 'glab']) fake(name);
  const { status, stderr } = run(whole);
  assert.equal(status, 0, stderr);
  assert.deepEqual(wordsOf('release-cli'), [
    'create',
    '--name',
    'Release two words',
    '--description',
    'What is new',
    '--tag-name',
    'v1',
    '--tag-message',
    'a tag',
    '--released-at',
    '2026-03-04T05:06:07Z',
    '--ref',
    'abc',
    '--milestone',
    'm 1',
    '--milestone',
    'm2',
    '--assets-link',
    '{"name":"of two words","url":"https://example.com/a","filepath":"/a"}',
  ]);
  assert.throws(() => wordsOf('curl'));
});

test('calls the API with curl, and passes the token through a pipe', () => {
  for (const name of ['curl', 'glab']) fake(name);
  const { status, stderr } = run(whole);
  assert.equal(status, 0, stderr);
  const words = wordsOf('curl');
  assert.deepEqual(
    words.filter((_word, at) => words[at - 1] === '--data-urlencode'),
    [
      'tag_name=v1',
      'name=Release two words',
      'tag_message=a tag',
      'released_at=2026-03-04T05:06:07Z',
      'ref=abc',
      'milestones[]=m 1',
      'milestones[]=m2',
      'assets[links][0][name]=of two words',
      'assets[links][0][url]=https://example.com/a',
      'assets[links][0][filepath]=/a',
      'description=What is new',
    ],
  );
  assert.equal(words.at(-1), 'https://example.com/api/v4/projects/7/releases');
  assert.ok(!words.join().includes('secret'));
  assert.equal(readFileSync(join(folder, 'read'), 'utf8'), 'JOB-TOKEN: secret\n');
});

test('reads the description from the file it names', () => {
  fake('curl');
  writeFileSync(join(folder, 'news.md'), 'news');
  run({ tag_name: 'v1', description: 'news.md', ref: 'main', milestones: 'one' });
  const words = wordsOf('curl');
  for (const word of ['description@news.md', 'ref=main', 'milestones[]=one']) assert.ok(words.includes(word));
});

test('keeps the description where the runner expands variables before the shell', () => {
  fake('curl');
  const described = (description: string): string | undefined => {
    const lines = buildReleaseScript({ tag_name: '$CI_COMMIT_TAG', description }, 'bash').map(expand);
    const { status, stderr } = runLines(lines);
    assert.equal(status, 0, stderr);
    return wordsOf('curl').findLast((word) => word.startsWith('description'));
  };
  assert.equal(described('What is new in $TITLE'), 'description=What is new in two words');
  writeFileSync(join(folder, 'news.md'), 'news');
  assert.equal(described('news.md'), 'description@news.md');
  assert.equal(readFileSync(join(folder, 'read'), 'utf8'), 'JOB-TOKEN: secret\n');
});

test('tries glab last', () => {
  fake('glab');
  const { status, stderr } = run(whole);
  assert.equal(status, 0, stderr);
  const words = wordsOf('glab');
  assert.deepEqual(words.slice(0, 3), ['auth', 'login', '--job-token']);
  const create = words.slice(words.indexOf('create'));
  assert.deepEqual(create.slice(0, 4), ['create', '-R', 'group/project', 'v1']);
  assert.equal(create[create.indexOf('--milestone') + 1], 'm 1,m2');
  assert.equal(create[create.indexOf('--ref') + 1], 'abc');
});

test('fails without any of them, and names what is missing', () => {
  const { status, stderr } = run(whole);
  assert.equal(status, 127);
  assert.match(stderr, /release-cli, curl and glab are all missing/);
});

test('fails with the exit status of the program', () => {
  writeFileSync(join(folder, 'curl'), '#!/bin/bash\nexit 22\n');
  chmodSync(join(folder, 'curl'), 0o755);
  assert.equal(run(whole).status, 22);
});

test('gives PowerShell the release-cli command only', () => {
  for (const shell of ['pwsh', 'powershell']) {
    const [script = ''] = buildReleaseScript({ tag_name: 'v1', description: 'd' }, shell);
    assert.equal(script, 'release-cli create --description "d" --tag-name "v1" --ref "$CI_COMMIT_SHA"');
  }
});
