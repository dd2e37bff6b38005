/** Rule 3 of the house: a folder of `src/` imports from itself and from what stands before it, nothing else. */
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { it } from 'node:test';
import assert from 'node:assert/strict';
import { isIn, storeless } from './support/storeless.ts';

const order = `
  errors sign_in_providers config_values config_environment config_blobs config_compat config_git config_operations config_runner config time duration version wildcard unicode once_per in_turn
  db git http queue blob apart ci_file job_statuses
  settings access
  events namespaces users tokens sessions two_factor oauth identities keys groups projects members deploy_keys job_token_scope labels milestones snippets uploads templates
  registry repository releases issuables integrations
  subscriptions todos notes discussions time_tracking quick_actions awards issues merge_requests variables environments pipelines jobs artifacts runners
  hooks search instance
  git_http git_ssh runner_api web
  work routes service main cli
`
  .trim()
  .split(/\s+/);

/** What both sides of the connection to `gitd/` are written by. */
const wire = ['gitd/protocol.ts', 'gitd/rpc/frames.ts', 'gitd/rpc/pipe.ts', 'gitd/storage/marker.ts'];

type Source = { file: string; text: string };

/** `src/users/create.ts` and `src/time.ts` stand at `users` and `time`; gitd/ and runner/ are their own. */
const placeOf = (file: string): string => /^(?:src\/)?([^/.]+)/.exec(file)?.[1] ?? file;

const importPattern =
  /^(?:import|(?:export|\}).*? from)\b[^'"\n]*['"](\.[^'"]+)['"]|\bimport\(\s*['"](\.[^'"]+)['"]/gm;

const importsOf = ({ file, text }: Source): string[] =>
  [...text.matchAll(importPattern)].map(([, still, late]) =>
    posix.join(posix.dirname(file), still ?? late ?? ''),
  );

const isListed = (file: string): boolean => !file.startsWith('src/') || order.includes(placeOf(file));

const isAllowed = (file: string, target: string): boolean => {
  const [from, to] = [placeOf(file), placeOf(target)];
  if (to === 'zip') return true; // ours, and it knows nothing of us
  if (!file.startsWith('src/')) return from === to;
  if (file.startsWith('src/git/') && wire.includes(target)) return true;
  return target.startsWith('src/') && (!isListed(target) || order.indexOf(to) <= order.indexOf(from));
};

/** Starting a process holds its parent up: git is started by gitd alone, there by one file; the runner starts jobs. */
const starters = [
  'gitd/exec/spawn.ts',
  'src/git/supervise.ts',
  'src/service/runner.ts',
  'src/cli/doctor_machine.ts',
];
const startsProcesses = ({ file, text }: Source): boolean =>
  /^(?:src|gitd)\//.test(file) && !starters.includes(file) && /['"](?:node:)?child_process['"]/.test(text);

const faultsOf = (source: Source): string[] => {
  const { file, text } = source;
  if (!isListed(file)) return [`${file}: "${placeOf(file)}" has no place in the order list`];
  const imports = importsOf(source).filter((target) => !isAllowed(file, target));
  return [
    ...imports.map((target) => `${file} imports ${target}`),
    ...(/^export default\b/m.test(text) ? [`${file} has a default export`] : []),
    ...(startsProcesses(source) ? [`${file} starts processes`] : []),
    ...(/^(?:export |declare |const )*enum \w/m.test(text) ? [`${file} has an enum`] : []),
  ];
};

const cwd = join(import.meta.dirname, '..');
const all = globSync('{src,gitd,runner,zip,test}/**/*.ts', { cwd }).map((file) => ({
  file,
  text: readFileSync(join(cwd, file), 'utf8'),
}));
const isTest = ({ file }: Source): boolean => file.endsWith('.test.ts');

it('holds the order list', () => {
  const sources = all.filter((one) => !isTest(one) && !one.file.startsWith('test/'));
  assert.ok(sources.length > 0);
  assert.deepEqual(sources.flatMap(faultsOf), []);
});

/** The file itself, what it imports, what that imports, and so on. */
const reachOf = (file: string): Set<string> => {
  const reach = new Set([file]);
  for (const one of reach) {
    const source = all.find((other) => other.file === one);
    for (const target of source === undefined ? [] : importsOf(source)) reach.add(target);
  }
  return reach;
};

it('asks only once what knows no store', () => {
  const tests = all.filter((one) => isTest(one) && isIn(storeless, one.file)).map(({ file }) => file);
  const knowing = (file: string): boolean => [...reachOf(file)].some((one) => one.startsWith('src/db/'));
  assert.ok(knowing('src/users/create.ts'));
  assert.deepEqual(tests.filter(knowing), []);
  assert.deepEqual(
    storeless.filter((place) => !tests.some((file) => isIn([place], file))),
    [],
  );
});

it('finds what it looks for', () => {
  const faults = (file: string, text: string): number => faultsOf({ file, text }).length;
  assert.equal(faults('src/users/create.ts', `import { now } from '../time.ts';\nimport './rules.ts';`), 0);
  assert.equal(faults('src/db/open.ts', `import type { Call } from '../access/call.ts';`), 1);
  assert.equal(faults('src/db/open.ts', `import {\n  a,\n  b,\n} from '../git/refs.ts';`), 1);
  assert.equal(faults('src/users/create.ts', `export { b } from '../issues/b.ts';`), 1);
  assert.equal(faults('src/users/create.ts', `const b = await import('../issues/b.ts');`), 1);
  assert.equal(faults('src/users/create.ts', `import { it } from '../../test/support/it.ts';`), 1);
  assert.equal(faults('src/users/create.ts', `export const folder = '../issues';`), 0);
  assert.equal(faults('src/novelty/create.ts', ''), 1);
  assert.equal(faults('gitd/main.ts', `import { now } from '../src/time.ts';`), 1);
  assert.equal(faults('gitd/main.ts', `import { pool } from './pool.ts';`), 0);
  assert.equal(faults('runner/main.ts', `import { readZip } from '../zip/read.ts';`), 0);
  assert.equal(faults('runner/main.ts', `import { now } from '../src/time.ts';`), 1);
  assert.equal(faults('src/git/dial.ts', `import { protocolVersion } from '../../gitd/protocol.ts';`), 0);
  assert.equal(faults('src/git/dial.ts', `import { makeExec } from '../../gitd/exec/spawn.ts';`), 1);
  assert.equal(faults('src/users/create.ts', `import { zeroOid } from '../../gitd/protocol.ts';`), 1);
  assert.equal(faults('src/repository/open.ts', `import { spawn } from 'node:child_process';`), 1);
  assert.equal(faults('gitd/exec/spawn.ts', `import { spawn } from 'node:child_process';`), 0);
  assert.equal(faults('runner/main.ts', `import { spawn } from 'node:child_process';`), 0);
  assert.equal(faults('src/time.ts', 'export default 1;'), 1);
  assert.equal(faults('src/time.ts', 'export const enum A {}'), 1);
});
