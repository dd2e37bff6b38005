/** Malicious commits that no regular git client creates, made with git's plumbing. */
import { execFileSync } from 'node:child_process';
import { gitEnvironment } from './git.ts';

export type Crafted = {
  /** Refs to push; `refs/heads/hostile` is among them. */
  refs: [id: string, ref: string][];
  /** Whether the service accepts the push. */
  taken: boolean;
};
type Make = (path: string, first: string) => Promise<Crafted> | Crafted;

const run = (path: string, args: string[], input: string | Buffer = ''): string =>
  execFileSync('git', args, { cwd: path, input, env: gitEnvironment(), maxBuffer: 2 ** 28 })
    .toString()
    .trim();

type Kind = 'blob' | 'tree' | 'commit' | 'tag';

const object = (path: string, type: Kind, bytes: string | Buffer): string =>
  run(path, ['hash-object', '-w', '--literally', '-t', type, '--stdin'], bytes);

type Entry = { mode?: string; name: string | Buffer; id: string };

const writeTree = (path: string, entries: readonly Entry[]): string => {
  const keyOf = ({ mode, name }: Entry): Buffer =>
    Buffer.concat([Buffer.from(name), Buffer.from(mode === '40000' ? '/' : '')]);
  const sorted = entries.toSorted((a, b) => Buffer.compare(keyOf(a), keyOf(b)));
  const parts = sorted.flatMap(({ mode = '100644', name, id }) => [
    Buffer.from(`${mode} `),
    Buffer.from(name),
    Buffer.from([0]),
    Buffer.from(id, 'hex'),
  ]);
  return object(path, 'tree', Buffer.concat(parts));
};

const person = 'Eve <eve@example.com> 1500000000 +0000';

type CommitText = {
  parents: readonly string[];
  author?: string;
  headers?: string;
  message?: string | Buffer;
};

const writeCommit = (path: string, tree: string, text: CommitText): string => {
  const { parents, author = person, headers = '', message = 'Hostile\n' } = text;
  const lines = [`tree ${tree}`, ...parents.map((id) => `parent ${id}`), `author ${author}`];
  const head = `${lines.join('\n')}\ncommitter ${person}\n${headers}\n`;
  return object(path, 'commit', Buffer.concat([Buffer.from(head), Buffer.from(message)]));
};

const onHostile = (id: string, taken = true): Crafted => ({ refs: [[id, 'refs/heads/hostile']], taken });

/** A commit of these tree entries on top of the first one. */
const ofEntries = (path: string, first: string, entries: readonly Entry[]): Crafted =>
  onHostile(writeCommit(path, writeTree(path, entries), { parents: [first] }));

/** A commit with an ordinary tree and a hostile message. */
const ofText = (path: string, first: string, text: Partial<CommitText>, taken = true): Crafted => {
  const tree = writeTree(path, [{ name: 'x', id: object(path, 'blob', 'x\n') }]);
  return onHostile(writeCommit(path, tree, { parents: [first], ...text }), taken);
};

const oddNames: readonly (string | Buffer)[] = [
  'a\nb',
  'a\tb',
  'a\rb',
  '"quoted"',
  'back\\slash',
  "it's",
  ' ',
  '*',
  ':(glob)**',
  '-x',
  '--output=x',
  '%2e%2e',
  '\u001b[31mred',
  '\u202egnp.exe',
  '\u{1f600}',
  '<img src=x onerror=alert(1)>',
  'con',
  'x'.repeat(4000),
  Buffer.from([0x66, 0xff, 0xfe]),
  Buffer.from('latin-\xe9', 'latin1'),
];

const nested = (path: string, depth: number): string => {
  let id = writeTree(path, [{ name: 'deep', id: object(path, 'blob', 'deep\n') }]);
  for (let level = 0; level < depth; level += 1) id = writeTree(path, [{ mode: '40000', name: 'd', id }]);
  return id;
};

const bomb = (path: string, depth: number): string => {
  const names = Array.from({ length: 10 }, (_none, at) => `n${at}`);
  const blob = object(path, 'blob', 'boom\n');
  let id = writeTree(
    path,
    names.map((name) => ({ name, id: blob })),
  );
  for (let level = 0; level < depth; level += 1) {
    const below = id;
    id = writeTree(
      path,
      names.map((name) => ({ mode: '40000', name, id: below })),
    );
  }
  return id;
};

/** A commit of a few kilobytes whose tree has a thousand million paths. */
export const craftTreeBomb = (path: string, first: string): Crafted =>
  onHostile(writeCommit(path, bomb(path, 8), { parents: [first] }));

/** Each hostile commit with its description. */
export const craft: Readonly<Record<string, Make>> = {
  'links that lead out, into circles and to nothing': (path, first) =>
    ofEntries(
      path,
      first,
      ['/etc/passwd', '../../../../etc/passwd', 'loop', '', '\0', 'x'.repeat(5000)].map((to, at) => ({
        mode: '120000',
        name: at === 2 ? 'loop' : `link-${at}`,
        id: object(path, 'blob', to),
      })),
    ),
  'names that are no text, or look like something else': (path, first) =>
    ofEntries(
      path,
      first,
      oddNames.map((name) => ({ name, id: object(path, 'blob', 'x\n') })),
    ),
  'a folder in a folder, four hundred deep': (path, first) =>
    onHostile(writeCommit(path, nested(path, 400), { parents: [first] })),
  'a tree that unfolds to a thousand million files': craftTreeBomb,
  'a folder of six thousand files': (path, first) => {
    const id = object(path, 'blob', 'x\n');
    return ofEntries(
      path,
      first,
      Array.from({ length: 6000 }, (_none, at) => ({ name: `file-${at}`, id })),
    );
  },
  'modes of long ago': (path, first) =>
    ofEntries(path, first, [
      { mode: '100664', name: 'group', id: object(path, 'blob', 'x\n') },
      { mode: '040000', name: 'padded', id: nested(path, 0) },
      { mode: '160000', name: 'module', id: '1'.repeat(40) },
    ]),
  'a file of nothing but zeros, and one of one endless line': (path, first) =>
    ofEntries(path, first, [
      { name: 'zeros', id: object(path, 'blob', Buffer.alloc(20 * 2 ** 20)) },
      { name: 'line', id: object(path, 'blob', Buffer.alloc(4 * 2 ** 20, 'x')) },
    ]),
  'files that the service reads, each something else': (path, first) =>
    ofEntries(path, first, [
      { mode: '40000', name: '.gitlab-ci.yml', id: nested(path, 1) },
      { mode: '120000', name: 'README.md', id: object(path, 'blob', 'README.md') },
      { name: '.gitattributes', id: object(path, 'blob', '* diff=x filter=x -text export-ignore\n') },
      { name: 'LICENSE', id: object(path, 'blob', Buffer.from([0, 0xff, 0xfe])) },
      { mode: '160000', name: 'kept', id: first },
    ]),
  'an author without a name': (path, first) => ofText(path, first, { author: ' <> 0 +0000' }),
  'an author of no encoding': (path, first) =>
    ofText(path, first, { headers: 'encoding no-such-thing\n', message: Buffer.from([0xff, 0xfe, 0x0a]) }),
  'a time far away': (path, first) => ofText(path, first, { author: 'Eve <e@x> 99999999999999 +0000' }),
  'a time past all numbers': (path, first) =>
    ofText(path, first, { author: 'Eve <e@x> 99999999999999999999999 +0000' }, false),
  'a time zone that is none': (path, first) =>
    ofText(path, first, { author: 'Eve <e@x> 1500000000 +9999999' }),
  'a commit without a message': (path, first) => ofText(path, first, { message: '' }),
  'a message of a megabyte, in one line': (path, first) =>
    ofText(path, first, { message: 'Closes #1 @root '.repeat(2 ** 16) }),
  'headers of a signature and of more': (path, first) =>
    ofText(path, first, {
      headers: `gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\nmergetag object ${first}\n type commit\nHG:extra x\n`,
    }),
  'forty parents': (path, first) => {
    const tree = writeTree(path, [{ name: 'x', id: object(path, 'blob', 'x\n') }]);
    const parents = Array.from({ length: 40 }, (_none, at) =>
      writeCommit(path, tree, { parents: [first], message: `Parent ${at}\n` }),
    );
    return onHostile(writeCommit(path, tree, { parents }));
  },
  'the same parent twice': (path, first) => ofText(path, first, { parents: [first, first] }),
  'no parent at all': (path, first) => ofText(path, first, { parents: [] }),
  'tags of tags, of a folder and of a file': (path, first) => {
    const tag = (type: Kind, id: string, name: string): string =>
      object(path, 'tag', `object ${id}\ntype ${type}\ntag ${name}\ntagger ${person}\n\nHostile\n`);
    const blob = object(path, 'blob', 'x\n');
    const tree = writeTree(path, [{ name: 'x', id: blob }]);
    const commit = writeCommit(path, tree, { parents: [first] });
    let last = tag('commit', commit, 'tag-0');
    for (let at = 1; at < 30; at += 1) last = tag('tag', last, `tag-${at}`);
    return {
      refs: [
        [commit, 'refs/heads/hostile'],
        [last, 'refs/tags/hostile'],
        [tag('tree', tree, 'folder'), 'refs/tags/folder'],
        [tag('blob', blob, 'file'), 'refs/tags/file'],
        [tree, 'refs/tags/bare-folder'],
        [blob, 'refs/tags/bare-file'],
      ],
      taken: true,
    };
  },
  'a branch and a tag of one name': (path, first) => {
    const tree = writeTree(path, [{ name: 'y', id: object(path, 'blob', 'y\n') }]);
    const [one, two] = ['One\n', 'Two\n'].map((message) =>
      writeCommit(path, tree, { parents: [first], message }),
    );
    return {
      refs: [
        [one ?? '', 'refs/heads/hostile'],
        [two ?? '', 'refs/tags/hostile'],
        [two ?? '', 'refs/tags/main'],
      ],
      taken: true,
    };
  },
};
