/** Every block of commands in the README and the pages for operators is run by a test, or here with a reason. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

type Block = { file: string; code: string };

const blocks: Block[] = ['README.md', ...globSync('docs/*.md', { cwd: root }).toSorted()].flatMap((file) =>
  [...read(file).matchAll(/^ *```(?:sh|console)\n([^]*?)^ *```/gm)].map(([, code = '']) => ({ file, code })),
);

/** Tests that run all commands of a page of one kind. */
const whole: { file: RegExp; line: RegExp; by: string }[] = [
  {
    file: /./,
    // The last is part of how the file for compose is made.
    line: /^(?:docker (?:compose|volume)|REVISION=\S+ \S+ \S+ docker compose|git pull$|echo .*>> deploy\/\.env)/,
    by: 'test/deploy/documented_compose.test.ts',
  },
  { file: /^docs\/tutorial\.md$/, line: /./, by: 'test/cli/tutorial.test.ts' },
  {
    file: /^docs\/backup\.md$/,
    line: /^(?:gantry backup|GANTRY_)/,
    by: 'test/cli/backup_commands.test.ts',
  },
];

const documentedBlocks = 'test/cli/documented_blocks.test.ts';
const installation = 'test/cli/installation.test.ts';

/** Words of a block, and the test that finds it by them. */
const single: { file: string; words: string; by: string }[] = [
  { file: 'README.md', words: 'TOKEN=', by: documentedBlocks },
  { file: 'README.md', words: '$ A=http', by: documentedBlocks },
  { file: 'docs/administration.md', words: 'gantry admin user create maria', by: documentedBlocks },
  { file: 'docs/administration.md', words: 'gantry-run doctor', by: 'test/cli/documented_systemd.test.ts' },
  { file: 'docs/backup.md', words: 'gantry-run backup', by: 'test/cli/documented_systemd.test.ts' },
  { file: 'docs/scaling.md', words: 'GANTRY_REPOSITORY_STORAGES=', by: 'test/cli/storage_host.test.ts' },
  { file: 'docs/api.md', words: '--json', by: documentedBlocks },
  { file: 'docs/backup.md', words: 'install -d', by: 'test/deploy/samples.test.ts' },
  { file: 'docs/changes.md', words: 'api/v4/changes', by: documentedBlocks },
  { file: 'docs/debugging.md', words: 'DatabaseSync', by: documentedBlocks },
  { file: 'docs/external_ci.md', words: 'curl', by: documentedBlocks },
  { file: 'docs/importing.md', words: 'import_url=', by: documentedBlocks },
  { file: 'docs/importing.md', words: '--mirror', by: documentedBlocks },
  { file: 'docs/installation.md', words: 'npm start -- --data', by: documentedBlocks },
  { file: 'docs/installation.md', words: 'npm pack', by: installation },
  { file: 'docs/installation.md', words: '--omit=dev', by: installation },
  { file: 'docs/installation.md', words: 'useradd', by: installation },
  { file: 'docs/installation.md', words: 'initial_root_password', by: installation },
  { file: 'docs/installation.md', words: 'userdel', by: installation },
  { file: 'docs/installation.md', words: 'storage copy-blobs', by: documentedBlocks },
  { file: 'docs/mail.md', words: 'GANTRY_SMTP_URL', by: documentedBlocks },
  { file: 'docs/runners.md', words: 'gantry runner --url', by: documentedBlocks },
  { file: 'docs/scaling.md', words: 'gantry gitd', by: 'test/cli/gitd_tls.test.ts' },
  { file: 'docs/scaling.md', words: 'openssl', by: 'test/cli/gitd_tls.test.ts' },
  { file: 'docs/scaling.md', words: 'gantry storage move', by: documentedBlocks },
];

/** Words of a block that no test runs, and why. */
const unrun: { file: string; words: string; why: string }[] = [
  { file: 'docs/installation.md', words: 'GANTRY_SSH_LISTEN=', why: 'it edits the settings of a machine' },
  { file: 'README.md', words: 'npm test', why: 'CI runs these two commands as they stand' },
  { file: 'docs/installation.md', words: 'npm ci\nnpm start', why: 'CI installs so; another block starts' },
  { file: 'docs/debugging.md', words: 'npm start | grep', why: 'it goes on until a person has seen enough' },
  { file: 'docs/debugging.md', words: '--inspect-brk src', why: 'it waits for a debugger' },
  { file: 'docs/debugging.md', words: '--inspect-brk --test', why: 'it waits for a debugger' },
  { file: 'docs/external_ci.md', words: 'WOODPECKER_GITLAB', why: 'settings of another program' },
  { file: 'docs/runners.md', words: 'gitlab-runner register', why: 'another program, which is not in npm' },
  { file: 'docs/runners.md', words: 'apt-get install', why: 'it changes the machine' },
];

const listLines = (code: string): string[] =>
  code
    .replaceAll(/\\\n/g, '')
    .split('\n')
    .map((line) => line.trim().replace(/^\$ /, ''))
    .filter(Boolean);

const isRunWhole = ({ file, code }: Block): boolean =>
  whole.some((one) => one.file.test(file) && listLines(code).every((line) => one.line.test(line)));

test('every block is run by a test, or listed with a reason', () => {
  assert.ok(blocks.length > 50);
  const listed = [...single, ...unrun];
  const unknown = blocks.filter(
    (block) =>
      !isRunWhole(block) &&
      !listed.some(({ file, words }) => file === block.file && block.code.includes(words)),
  );
  assert.deepEqual(
    unknown.map(({ file, code }) => `${file}: ${code}`),
    [],
  );
});

test('what is listed exists, and the tests name it', () => {
  const missing = [...single, ...unrun].filter(
    ({ file, words }) => !blocks.some((block) => block.file === file && block.code.includes(words)),
  );
  assert.deepEqual(missing, []);
  const unnamed = single.filter(({ file, words, by }) => {
    const text = read(by);
    return (
      !text.includes(file.replace(/^docs\//, '')) ||
      (by === documentedBlocks && !text.includes(words.replace('$ A=http', 'tour')))
    );
  });
  assert.deepEqual(unnamed, []);
  for (const { by } of whole) assert.ok(read(by).length > 0, by);
});

test('a block that nothing runs is found', () => {
  assert.ok(isRunWhole({ file: 'docs/ci.md', code: 'docker compose up\n' }));
  assert.ok(!isRunWhole({ file: 'docs/ci.md', code: 'docker compose up\nrm -r /\n' }));
  assert.ok(!isRunWhole({ file: 'docs/ci.md', code: 'gantry backup create\n' }));
});
