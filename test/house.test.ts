/** Rule 3 of STYLE.md: a folder imports from itself and from folders before it in the order list, nothing else. */
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { it } from 'node:test';
import assert from 'node:assert/strict';
import { isIn, storeless } from './support/run/store_independent.ts';

const cwd = join(import.meta.dirname, '..');

/**
 * Reads the order lists of ARCHITECTURE.md: `wing  folder folder ...`, a wing's further lines indented. The first
 * block orders the wings of `src/`, the second one `gitd/` and `runner/`.
 */
const readOrder = (text: string): string[] => {
  const section = /^## The order\n(.*?)^## /ms.exec(text)?.[1] ?? '';
  const block = [...section.matchAll(/^```text\n(.*?)^```/gms)]
    .map(([, lines = '']) => lines.trimEnd())
    .join('\n');
  let wing = '';
  return block.split('\n').flatMap((line) => {
    const [first = '', ...rest] = line.trim().split(/\s+/);
    if (!line.startsWith(' ')) wing = first;
    return (line.startsWith(' ') ? [first, ...rest] : rest).filter(Boolean).map((one) => `${wing}/${one}`);
  });
};

const order = readOrder(readFileSync(join(cwd, 'ARCHITECTURE.md'), 'utf8'));

/** What both sides of the connection to `gitd/` are written by. */
const wire = [
  'gitd/protocol.ts',
  'gitd/protocol_records.ts',
  'gitd/ref_names.ts',
  'gitd/rpc/frames.ts',
  'gitd/rpc/socket_streams.ts',
  'gitd/disk/inspect_storage.ts',
  'gitd/disk/instance_marker.ts',
  'gitd/disk/make_folder.ts',
  'gitd/transport/packet_lines.ts',
];

type Source = { file: string; text: string };

/** The place of a file in the order: `identity/users` for `src/identity/users/create.ts`, `gitd/main` for `gitd/main.ts`. */
const placeOf = (file: string): string => /^(?:src\/)?([^/.]+\/[^/.]+)/.exec(file)?.[1] ?? file;

const importPattern =
  /^(?:import|(?:export|\}).*? from)\b[^'"\n]*['"](\.[^'"]+)['"]|\bimport\(\s*['"](\.[^'"]+)['"]/gm;

const importsOf = ({ file, text }: Source): string[] =>
  [...text.matchAll(importPattern)].map(([, still, late]) =>
    posix.join(posix.dirname(file), still ?? late ?? ''),
  );

const programOf = (file: string): string => file.slice(0, file.indexOf('/'));

const isListed = (file: string): boolean => programOf(file) === 'zip' || order.includes(placeOf(file));

const isAllowed = (file: string, target: string): boolean => {
  if (programOf(target) === 'zip') return true; // ours, and it knows nothing of us
  if (file.startsWith('src/platform/git/') && wire.includes(target)) return true;
  if (programOf(file) !== programOf(target)) return false;
  return !isListed(target) || order.indexOf(placeOf(target)) <= order.indexOf(placeOf(file));
};

/** Starting a process holds its parent up: git is started by gitd alone, there by one file; the runner starts jobs. */
const starters = [
  'gitd/exec/spawn.ts',
  'src/platform/git/supervise_gitd.ts',
  'src/app/service/supervise_built_in_runner.ts',
  'src/app/backup/scheduled_backups.ts',
  'src/app/service/notify_systemd.ts',
  'src/app/cli/doctor/check_machine.ts',
];
const startsProcesses = ({ file, text }: Source): boolean =>
  /^(?:src|gitd)\//.test(file) && !starters.includes(file) && /['"](?:node:)?child_process['"]/.test(text);

/** Numbers of rules of STYLE.md, each with a word of its text. */
const styleRules = {
  order: [3, 'order list'],
  folders: [4, '20 files'],
  exports: [6, 'Named exports'],
  erasable: [11, 'erasable'],
} as const;

const nameRule = (rule: keyof typeof styleRules): string => `STYLE.md rule ${styleRules[rule][0]}`;

/** What breaks a rule, and where to mend it. */
const rules = {
  order:
    `${nameRule('order')}: move the code to the earlier folder, or hand it over from src/app; the order list is in ` +
    'ARCHITECTURE.md, "The order"',
  exports: `${nameRule('exports')}: use a named export`,
  erasable: `${nameRule('erasable')}: use a union of literals`,
  processes: 'ask gitd or the runner to start it; who may start processes is listed in test/house.test.ts',
};

it('names the rules of STYLE.md by their numbers', () => {
  const style = readFileSync(join(cwd, 'STYLE.md'), 'utf8');
  for (const [number, word] of Object.values(styleRules)) {
    const rule = style.split('\n').find((line) => line.startsWith(`${number}. `)) ?? '';
    assert.ok(rule.includes(word), `rule ${number} of STYLE.md does not say "${word}": ${rule}`);
  }
});

/** Fails with the faults, a line each. */
const requireNone = (faults: readonly string[], rule: string): void =>
  assert.ok(faults.length === 0, `${rule}\n${faults.map((fault) => `  ${fault}`).join('\n')}`);

const faultsOf = (source: Source): string[] => {
  const { file, text } = source;
  if (!isListed(file)) return [`${file}: "${placeOf(file)}" has no place in the order list (${rules.order})`];
  const imports = importsOf(source).filter((target) => !isAllowed(file, target));
  return [
    ...imports.map((target) => `${file} imports ${target} (${rules.order})`),
    ...(/^export default\b/m.test(text) ? [`${file} has a default export (${rules.exports})`] : []),
    ...(startsProcesses(source) ? [`${file} starts processes (${rules.processes})`] : []),
    ...(/^(?:export |declare |const )*enum \w/m.test(text)
      ? [`${file} has an enum (${rules.erasable})`]
      : []),
  ];
};

const all = globSync('{src,gitd,runner,zip,test}/**/*.ts', { cwd }).map((file) => ({
  file,
  text: readFileSync(join(cwd, file), 'utf8'),
}));
const isTest = ({ file }: Source): boolean => file.endsWith('.test.ts');

it('imports only what stands before it in the order list of ARCHITECTURE.md', () => {
  const sources = all.filter((one) => !isTest(one) && !one.file.startsWith('test/'));
  assert.ok(sources.length > 0);
  requireNone(sources.flatMap(faultsOf), 'The sources break a rule of the house:');
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
  const knowing = (file: string): boolean =>
    [...reachOf(file)].some((one) => one.startsWith('src/platform/db/'));
  assert.ok(knowing('src/identity/users/create.ts'));
  requireNone(
    tests.filter(knowing),
    'These use the store: take them out of test/support/run/store_independent.ts',
  );
  requireNone(
    storeless.filter((place) => !tests.some((file) => isIn([place], file))),
    'There is no such test: take it out of test/support/run/store_independent.ts',
  );
});

/** Files that import each other in a circle, types included. */
const circlesOf = (sources: Source[]): string[][] => {
  const imports = new Map(sources.map((one) => [one.file, importsOf(one)]));
  const done = new Set<string>();
  const circles: string[][] = [];
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file]);
    if (done.has(file)) return;
    done.add(file);
    for (const target of imports.get(file) ?? []) visit(target, [...path, file]);
  };
  for (const { file } of sources) visit(file, []);
  return circles;
};

it('imports no files in a circle (move what both need into a file of its own)', () => {
  const sources = all.filter((one) => !isTest(one) && !one.file.startsWith('test/'));
  requireNone(
    circlesOf(sources).map((circle) => circle.join(' → ')),
    `${nameRule('order')}, no cycles: move what both files need into a file of its own`,
  );
  const a = { file: 'src/a/a/a.ts', text: `import './b.ts';` };
  assert.deepEqual(circlesOf([a, { file: 'src/a/a/b.ts', text: '' }]), []);
  assert.equal(circlesOf([a, { file: 'src/a/a/b.ts', text: `import type { A } from './a.ts';` }]).length, 1);
});

/** A longer folder is a list that nobody reads: split it by what happens in it. */
const mostFilesPerFolder = 20;
/** One file a migration, read by number. */
const lists = ['src/platform/db/migrations'];

it(`has at most ${mostFilesPerFolder} source files at the level of a folder (split a longer one by noun)`, () => {
  const counts = new Map<string, number>();
  const programs = globSync('{bench,tools}/**/*.ts', { cwd });
  for (const file of [...all.filter((one) => !isTest(one)).map((one) => one.file), ...programs]) {
    const folder = posix.dirname(file);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  const long = [...counts].filter(([folder, files]) => files > mostFilesPerFolder && !lists.includes(folder));
  requireNone(
    long.map(([folder, files]) => `${folder} has ${files} files`),
    `${nameRule('folders')}: split a longer folder by noun`,
  );
});

/** Pages that receive a form without `formPage`, and why. The list may only become shorter. */
const ownForms: Record<string, string> = {
  'admin/settings/pages.ts': 'parses each setting by itself, and has buttons that save nothing',
  'edit/commit_change.ts': 'a file that somebody changed meanwhile gets a page of its own, with status 409',
  'issuables/submit_form.ts': 'its forms share the page of a record, which shows their problems',
  'merge_requests/actions/attempt_merge.ts': 'explains refusals of the merge box, which has several buttons',
  'merge_requests/changes/actions/submit_form.ts':
    'its forms share the Changes tab, and return to their file',
  'merge_requests/conflicts/pages.ts':
    'branches that moved get the form of their new conflicts, with status 409',
  'oauth/pages.ts': 'the request of an application, which no form sends',
};

/** The code without its comments. */
const codeOf = (text: string): string => text.replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '');

const isPage = ({ file }: Source): boolean => file.startsWith('src/doors/web/pages/');
const ownForm =
  /import \{[^}]*\b(?:attempt|attemptRefChange|answerForm)\b[^}]*\} from '[^']+\/(?:form_problems|attempt_ref_change)\.ts'|^ +invalid[:,]/m;
const hasOwnForm = ({ text }: Source): boolean => ownForm.test(codeOf(text));

it('receives forms in one way', () => {
  const pages = all.filter((one) => isPage(one) && !isTest(one));
  const own = pages.filter(hasOwnForm).map(({ file }) => file.replace('src/doors/web/pages/', ''));
  requireNone(
    own.filter((file) => !(file in ownForms)),
    'Declare the form by formPage of src/doors/web/parts/fields/form_page.ts',
  );
  requireNone(
    Object.keys(ownForms).filter((file) => !own.includes(file)),
    'Take these out of the list `ownForms`: they use formPage',
  );
  assert.ok(
    hasOwnForm({ file: '', text: `import { attempt, noProblems } from '../../parts/form_problems.ts';` }),
  );
  assert.ok(hasOwnForm({ file: '', text: `page({\n    invalid: async () => view,\n})` }));
  assert.ok(
    !hasOwnForm({ file: '', text: `import { form } from '../../parts/form.ts';\nthrow invalid({});` }),
  );
});

it('sets the status of a refused page in one way', () => {
  const own = all.filter((one) => isPage(one) && !isTest(one) && /\b422\b/.test(codeOf(one.text)));
  requireNone(
    own.map(({ file }) => file),
    'Return withRefusal(view) of src/doors/web/page.ts, or withFormStatus of parts/form_problems.ts',
  );
});

it('finds each fault of the order', () => {
  const faults = (file: string, text: string): number => faultsOf({ file, text }).length;
  const file = 'src/identity/users/create.ts';
  assert.equal(faults(file, `import { now } from '../../platform/time.ts';\nimport './rules.ts';`), 0);
  assert.equal(
    faults('src/platform/db/open.ts', `import type { Call } from '../../core/access/call.ts';`),
    1,
  );
  assert.equal(faults('src/platform/db/open.ts', `import {\n  a,\n  b,\n} from '../git/refs.ts';`), 1);
  assert.equal(faults(file, `export { b } from '../../planning/issues/b.ts';`), 1);
  assert.equal(faults(file, `const b = await import('../../planning/issues/b.ts');`), 1);
  assert.equal(faults(file, `import { it } from '../../../test/support/it.ts';`), 1);
  assert.equal(faults(file, `export const folder = '../../planning/issues';`), 0);
  assert.equal(faults('src/identity/novelty/create.ts', ''), 1);
  assert.equal(faults('gitd/main.ts', `import { now } from '../src/platform/time.ts';`), 1);
  assert.equal(faults('gitd/main.ts', `import { pool } from './pool.ts';`), 0);
  assert.equal(faults('gitd/refs/list_refs.ts', `import { oidOf } from '../odb/loose.ts';`), 0);
  assert.equal(faults('gitd/odb/loose_object_writer.ts', `import { allRefs } from '../refs/list.ts';`), 1);
  assert.equal(faults('gitd/odb/loose_object_writer.ts', `import { methods } from '../methods.ts';`), 1);
  assert.equal(faults('gitd/novelty/create.ts', ''), 1);
  assert.equal(faults('runner/executors/run_process.ts', `import { runJob } from '../job/job.ts';`), 1);
  assert.equal(faults('zip/read_items.ts', `import { now } from '../src/platform/time.ts';`), 1);
  assert.equal(faults('runner/main.ts', `import { readZip } from '../zip/read_items.ts';`), 0);
  assert.equal(faults('runner/main.ts', `import { now } from '../src/platform/time.ts';`), 1);
  const dial = 'src/platform/git/dial.ts';
  assert.equal(faults(dial, `import { protocolVersion } from '../../../gitd/protocol.ts';`), 0);
  assert.equal(faults(dial, `import { makeExec } from '../../../gitd/exec/spawn.ts';`), 1);
  assert.equal(faults(file, `import { zeroOid } from '../../../gitd/protocol.ts';`), 1);
  assert.equal(faults('src/code/repository/open.ts', `import { spawn } from 'node:child_process';`), 1);
  assert.equal(faults('gitd/exec/spawn.ts', `import { spawn } from 'node:child_process';`), 0);
  assert.equal(faults('runner/main.ts', `import { spawn } from 'node:child_process';`), 0);
  assert.equal(faults('src/platform/time.ts', 'export default 1;'), 1);
  assert.equal(faults('src/platform/time.ts', 'export const enum A {}'), 1);
});
