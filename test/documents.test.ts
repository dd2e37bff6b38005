/** The documents of the repository: what they mention exists, and they stay short enough to be read. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { toSlug } from '../src/doors/markdown/convert/headings.ts';
import { fields } from '../src/platform/config/fields.ts';

const root = join(import.meta.dirname, '..');
const ours = '{src,gitd,runner,zip,test,bench,tools,docs,deploy,templates,.gitlab,.devcontainer}';
const documents = globSync(['*.md', `${ours}/**/*.md`, 'docs/**/*.md'], { cwd: root }).toSorted();
const sources = globSync(['*.ts', `${ours}/**/*.ts`], { cwd: root });
const names = new Set(sources.map((file) => basename(file)));
const scripts = (
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
).scripts;

type Document = { file: string; text: string };
const read = (file: string): Document => ({ file, text: readFileSync(join(root, file), 'utf8') });

/** Returns the text of a document; null: there is none, which other checks find. */
const readText = (file: string): string | null =>
  existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : null;

/** A path of a source is meant from the root, from the document's folder or from `src/`; a bare name may be anywhere. */
const isSource = (document: string, path: string): boolean =>
  path.includes('/')
    ? [path, join(dirname(document), path), join('src', path)].some((one) => existsSync(join(root, one)))
    : names.has(path);

const missingSources = ({ file, text }: Document): string[] =>
  [...text.matchAll(/(?<![\w/.*-])((?:\.{0,2}[\w@-]+\/)*[\w.-]+\.ts)\b/g)]
    .map(([, path = '']) => path)
    .filter((path) => !isSource(file, path));

const folders = new Set(sources.flatMap((file) => dirname(file).split('/')));
/** Folders that a program makes. */
const made = ['data/', 'data-dev/', 'dist/'];

/** As a source; `refs/...` is git's. */
const isFolder = (document: string, path: string): boolean =>
  [join(dirname(document), path), path].some((one) => existsSync(join(root, one))) ||
  path.startsWith('refs/') ||
  (path.indexOf('/') < path.length - 1 ? isSource(document, path) : folders.has(path.slice(0, -1)));

const missingFolders = ({ file, text }: Document): string[] =>
  [...text.matchAll(/`((?:[a-z_-]+\/)+)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => !made.includes(path) && !isFolder(file, path));

const missingLinks = ({ file, text }: Document): string[] =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.replace(/#.*/, ''))
    // Links into the instance are those of help, whose own test follows them.
    .filter((target) => target !== '' && !/^(?:[a-z]+:|\/-\/)/.test(target))
    .filter((target) => !existsSync(join(root, normalize(join(dirname(file), target)))));

const fenced = /^ *```[^]*?^ *```$/gm;

/** Lists the ids of a document's headings, which links name. */
const listAnchors = (text: string): Set<string> => {
  const counts = new Map<string, number>();
  const titles = [...text.replace(fenced, '').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', ''),
  );
  return new Set(
    titles.map((title) => {
      const slug = toSlug(title);
      const count = counts.get(slug) ?? 0;
      counts.set(slug, count + 1);
      return count === 0 ? slug : `${slug}-${count}`;
    }),
  );
};

/** Lists links to headings that do not exist, in the document itself or in another one. */
const missingAnchors = ({ file, text }: Document): string[] =>
  [...text.replace(fenced, '').matchAll(/\]\(([^)\s#:]*\.md)?#([^)\s]+)\)/g)]
    .filter(([, path, anchor = '']) => {
      const target = path === undefined ? file : normalize(join(dirname(file), path));
      const content = path === undefined ? text : readText(target);
      return content !== null && !listAnchors(content).has(decodeURIComponent(anchor));
    })
    .map(([link]) => link.slice(2, -1));

const missingScripts = ({ text }: Document): string[] =>
  [...text.matchAll(/\bnpm run ([\w:]+)/g)].map(([, name = '']) => name).filter((name) => !(name in scripts));

const faultsOf = (document: Document): string[] =>
  [missingSources, missingFolders, missingLinks, missingAnchors, missingScripts]
    .flatMap((missing) => missing(document))
    .map((what) => `${document.file} mentions ${what}`);

test('every source, folder, link, heading and npm script that a document mentions exists', () => {
  assert.ok(documents.includes('README.md') && documents.includes('src/ci/README.md'));
  assert.deepEqual(documents.map(read).flatMap(faultsOf), []);
});

test('a mention of what does not exist is found', () => {
  const faults = (text: string, file = 'src/ci/README.md'): number => faultsOf({ file, text }).length;
  assert.equal(faults('`pipelines/routes.ts`, `src/ci/jobs/find.ts`, `platform/time.ts`, `routes.ts`'), 0);
  assert.equal(faults('`pipelines/rotues.ts`'), 1);
  assert.equal(faults('`src/ci/jobs/found.ts`'), 1);
  assert.equal(faults('`no_such_file.ts`'), 1);
  assert.equal(faults('`pipelines/creation/`, `src/ci/jobs/`, `creation/`, `dist/`'), 0);
  assert.equal(faults('`pipelines/cremation/`'), 1);
  assert.equal(faults('`cremation/`'), 1);
  assert.equal(faults('[decisions](../../docs/decisions/README.md)'), 0);
  assert.equal(faults('[decisions](../../docs/decisions/README.md#no-such-heading)'), 1);
  assert.equal(faults('[log](../../docs/operations.md#the-log), [below](#b-c)\n## `b` [c](README.md)'), 0);
  assert.equal(faults('[below](#b-1)\n## B\n### B'), 0);
  assert.equal(faults('[below](#b)\n```sh\n# b\n```'), 1);
  assert.equal(faults('[decisions](../docs/decisions/README.md)'), 1);
  assert.equal(faults('`npm run golden`, `npm run seed -- --url URL`'), 0);
  assert.equal(faults('`npm run silver`'), 1);
});

/** Paths of examples, which name no source of ours. */
const examples = ['feature/x/src/main.ts', 'src/main.ts', 'src/split.ts'];

/** Returns the sources that comments mention and that do not exist. A path may start in any folder. */
const missingInComments = (text: string): string[] =>
  [...text.matchAll(/\/\*.*?\*\/|^\s*\/\/.*?$/gms)]
    .flatMap(([comment]) => [
      ...comment.matchAll(/(?<![\w/.*-])(?:\.{1,2}\/)*((?:[\w@-]+\/)*\w[\w.-]*\.ts)\b/g),
    ])
    .map(([, path = '']) => path)
    .filter((path) => !examples.includes(path) && !sources.some((file) => `/${file}`.endsWith(`/${path}`)));

test('every source that a comment mentions exists', () => {
  const faults = sources
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => missingInComments(read(file).text).map((path) => `${file} mentions ${path}`));
  assert.deepEqual(faults, []);
  assert.equal(missingInComments('/** As in `platform/time.ts`. */\nimport "./no_such_file.ts";').length, 0);
  assert.equal(missingInComments('  // Filled by `no_such_file.ts`.').length, 1);
  assert.equal(missingInComments('/**\n * As in `platform/no_such_file.ts`.\n */').length, 1);
});

/** Lines of a changelog that are neither a heading, nor a single-line entry of a group, nor the name of an area. */
const oddLines = (text: string): string[] => {
  let group = '';
  return text
    .slice(text.indexOf('\n## '))
    .split('\n')
    .filter((line) => {
      if (line.startsWith('#')) group = line;
      if (/^(?:|## \S.*|### (?:Added|Changed|Fixed|Security))$/.test(line)) return false;
      return !group.startsWith('### ') || !/^(?:- \S.*[.)]|[A-Z][\w ,]*)$/.test(line);
    });
};

test('the changelog has one line for each entry, below Added, Changed, Fixed or Security', () => {
  const { text } = read('CHANGELOG.md');
  assert.ok(text.includes('\n## Unreleased\n'));
  assert.deepEqual(oddLines(text), []);
  const odd = (lines: string): number => oddLines(`# Changelog\n\n## Unreleased\n\n${lines}\n`).length;
  assert.equal(odd('### Added\n\nGit and code\n\n- Clone over SSH.'), 0);
  assert.equal(odd('- Clone over SSH.'), 1);
  assert.equal(odd('### Improved\n\n- Clone over SSH.'), 1);
  assert.equal(odd('### Added\n\n- Clone over SSH\n  and HTTP.'), 2);
});

const limits: [pattern: RegExp, lines: number][] = [
  [/^README\.md$/, 80],
  [/^ARCHITECTURE\.md$/, 300],
  [/^(?:src\/\w+|gitd|runner|zip)\/README\.md$/, 60],
];

test('the tour and the pages of the wings stay short, and every wing has one', () => {
  const long = documents
    .map(read)
    .map(({ file, text }) => ({ file, lines: text.trimEnd().split('\n').length }))
    .filter(({ file, lines }) => limits.some(([pattern, most]) => pattern.test(file) && lines > most));
  assert.deepEqual(long, []);
  const wings = globSync(['src/*/', 'gitd', 'runner', 'zip'], { cwd: root });
  assert.deepEqual(
    wings.filter((wing) => !existsSync(join(root, wing, 'README.md'))),
    [],
  );
});

test('ARCHITECTURE.md is read in fifteen minutes', () => {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const words = text.trim().split(/\s+/).length;
  assert.ok(words <= 1_500, `${words} words: move what is less important to a page of docs/`);
});

test('the page of settings marks every secret, which can come from a file', () => {
  const { text } = read('docs/configuration.md');
  const secrets = Object.values(fields).filter(({ secret }) => secret === true);
  const missing = secrets.filter(({ variable }) => !text.includes(`| \`${variable}\`, secret |`));
  assert.deepEqual(
    missing.map(({ variable }) => variable),
    [],
  );
});

test('the page of operations says for each alert what to do, and for no other', () => {
  const rules = readFileSync(join(root, 'deploy/monitoring/alerts.yml'), 'utf8');
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  assert.ok(alerts.length > 10);
  const rows = [...read('docs/operations.md').text.matchAll(/^\| `(Gantry\w+)` \| [^|]+ \| [^|]+ \|$/gm)];
  assert.deepEqual(
    rows.map(([, name]) => name),
    alerts,
  );
});
