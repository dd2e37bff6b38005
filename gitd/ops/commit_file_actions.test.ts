import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import {
  startTestStorage,
  type TestRepository,
  type TestStorage,
} from '../../test/support/repositories/repository_storage.ts';
import type { ActionProblem, CommitAction, Signature } from '../protocol_records.ts';

let storage: TestStorage;
let repository: TestRepository;

before(async () => void (storage = await startTestStorage()));
after(async () => await storage.stop());
beforeEach(() => void (repository = storage.repository()));
afterEach(async () => {
  const isThere = await stat(repository.dir).then(
    () => true,
    () => false,
  );
  if (isThere) assert.equal(await repository.fsck(), '', 'fsck is clean');
});

const ada: Signature = { name: 'Ada', email: 'ada@example.com', time: 1_600_000_000, offset: '+0000' };
const by = { author: ada, committer: ada };

type Act = Omit<CommitAction, 'content'> & { content?: string | Buffer };

const act = async (
  parent: string | null,
  actions: Act[],
  message = 'Change',
): Promise<{ id: string } | ActionProblem> => {
  const parts: Buffer[] = [];
  const sliced = actions.map(({ content, ...action }): CommitAction => {
    if (content === undefined) return action;
    const offset = parts.reduce((sum, part) => sum + part.length, 0);
    const bytes = Buffer.from(content);
    parts.push(bytes);
    return { ...action, content: { offset, length: bytes.length } };
  });
  const params = { parent, actions: sliced, message, ...by };
  return await repository.ask('commit.actions', params, Buffer.concat(parts));
};

/** Applies the actions and returns the id of the new commit. */
const done = async (parent: string | null, actions: Act[], message?: string): Promise<string> => {
  const result = await act(parent, actions, message);
  assert.ok('id' in result, JSON.stringify(result));
  return result.id;
};

const list = async (id: string): Promise<string[]> => {
  const lines = await repository.git('ls-tree', '-r', '--format=%(objectmode) %(path)', id);
  return lines.split('\n').filter(Boolean);
};

const contentOf = async (id: string, path: string): Promise<string> =>
  await repository.git('cat-file', 'blob', `${id}:${path}`);

const start = async (): Promise<string> =>
  await done(null, [
    { action: 'create', file_path: 'a', content: 'a\n' },
    { action: 'create', file_path: 'd/b', content: 'b\n' },
    { action: 'create', file_path: 'd/run', content: '#!/bin/sh\n', execute_filemode: true },
  ]);

test('a first commit creates the repository, with folders and modes', async () => {
  const id = await start();
  assert.deepEqual(await list(id), ['100644 a', '100644 d/b', '100755 d/run']);
  assert.equal(await repository.git('show', '-s', '--format=%P', id), '');
  assert.equal(await repository.git('for-each-ref'), '', 'no ref moved');
});

test('the same input gives the same commit', async () => {
  const first = await start();
  repository = storage.repository();
  assert.equal(await start(), first);
});

test('all five actions work in one commit, and the mode of a file is kept', async () => {
  const parent = await start();
  const id = await done(parent, [
    { action: 'create', file_path: 'x/y/z', content: Buffer.from([0, 255, 10, 13]) },
    { action: 'update', file_path: 'd/run', content: 'new\n' },
    { action: 'delete', file_path: 'd/b' },
    { action: 'move', file_path: 'moved', previous_path: 'a' },
    { action: 'chmod', file_path: 'd/run', execute_filemode: true },
  ]);
  assert.deepEqual(await list(id), ['100755 d/run', '100644 moved', '100644 x/y/z']);
  assert.equal(await contentOf(id, 'd/run'), 'new');
  assert.equal(
    await repository.git('rev-parse', `${id}:moved`),
    await repository.git('rev-parse', `${parent}:a`),
  );
  assert.equal(await repository.git('rev-parse', `${id}^`), parent);
  assert.equal(Number(await repository.git('cat-file', '-s', `${id}:x/y/z`)), 4);
});

test('each action sees the result of earlier actions', async () => {
  const parent = await start();
  const id = await done(parent, [
    { action: 'delete', file_path: 'a' },
    { action: 'create', file_path: 'a/now/a/folder', content: '1' },
    { action: 'move', file_path: 'b', previous_path: 'a/now/a/folder' },
    { action: 'create', file_path: 'a', content: 'file again' },
    { action: 'update', file_path: 'b', content: '2' },
    { action: 'move', file_path: 'c', previous_path: 'b', content: '3' },
    { action: 'chmod', file_path: 'c', execute_filemode: true },
    { action: 'move', file_path: 'd/b/under', previous_path: 'd/b' },
  ]);
  assert.deepEqual(await list(id), ['100644 a', '100755 c', '100644 d/b/under', '100755 d/run']);
  assert.equal(await contentOf(id, 'c'), '3');
  assert.equal(await contentOf(id, 'a'), 'file again');
  const backwards = await act(parent, [
    { action: 'create', file_path: 'a/b', content: '1' },
    { action: 'delete', file_path: 'a' },
  ]);
  assert.deepEqual(backwards, { problem: 'exists', file_path: 'a' });
});

test('empty folders are removed; removing the last file gives the empty tree', async () => {
  const parent = await done(null, [{ action: 'create', file_path: 'a/b/c', content: 'c' }]);
  const id = await done(parent, [{ action: 'delete', file_path: 'a/b/c' }]);
  assert.deepEqual(await list(id), []);
  const next = await done(id, [{ action: 'create', file_path: 'a', content: 'a' }]);
  assert.deepEqual(await list(next), ['100644 a']);
});

const problems: [name: string, actions: Act[], wanted: ActionProblem][] = [
  [
    'create on a file',
    [{ action: 'create', file_path: 'a', content: '' }],
    { problem: 'exists', file_path: 'a' },
  ],
  [
    'create on a folder',
    [{ action: 'create', file_path: 'd', content: '' }],
    { problem: 'is_directory', file_path: 'd' },
  ],
  ['create below a file', [{ action: 'create', file_path: 'a/b/c' }], { problem: 'exists', file_path: 'a' }],
  ['update of nothing', [{ action: 'update', file_path: 'no' }], { problem: 'missing', file_path: 'no' }],
  ['update of a folder', [{ action: 'update', file_path: 'd' }], { problem: 'is_directory', file_path: 'd' }],
  ['delete of nothing', [{ action: 'delete', file_path: 'd/no' }], { problem: 'missing', file_path: 'd/no' }],
  ['delete of a folder', [{ action: 'delete', file_path: 'd' }], { problem: 'is_directory', file_path: 'd' }],
  [
    'move of nothing',
    [{ action: 'move', file_path: 'x', previous_path: 'no' }],
    { problem: 'missing', file_path: 'no' },
  ],
  ['move without a source', [{ action: 'move', file_path: 'x' }], { problem: 'missing', file_path: '' }],
  [
    'move onto itself',
    [{ action: 'move', file_path: 'a', previous_path: 'a' }],
    { problem: 'exists', file_path: 'a' },
  ],
  [
    'move onto a file',
    [{ action: 'move', file_path: 'd/b', previous_path: 'a' }],
    { problem: 'exists', file_path: 'd/b' },
  ],
  [
    'move onto a folder',
    [{ action: 'move', file_path: 'd', previous_path: 'a' }],
    { problem: 'is_directory', file_path: 'd' },
  ],
  [
    'move to a bad path',
    [{ action: 'move', file_path: '.git/x', previous_path: 'a' }],
    { problem: 'invalid_path', file_path: '.git/x' },
  ],
  ['chmod of nothing', [{ action: 'chmod', file_path: 'no' }], { problem: 'missing', file_path: 'no' }],
  ['chmod of a folder', [{ action: 'chmod', file_path: 'd' }], { problem: 'is_directory', file_path: 'd' }],
  [
    'update of a hostile path',
    [{ action: 'update', file_path: '.git/config' }],
    { problem: 'missing', file_path: '.git/config' },
  ],
  ['delete of no path', [{ action: 'delete', file_path: '' }], { problem: 'missing', file_path: '' }],
];

for (const [name, actions, wanted] of problems)
  test(`${name} is refused, and nothing is written`, async () => {
    const parent = await start();
    const before = await repository.git('count-objects', '-v');
    const fine: Act = { action: 'create', file_path: 'fine', content: 'not to be written' };
    assert.deepEqual(await act(parent, [fine, ...actions]), wanted);
    assert.equal(await repository.git('count-objects', '-v'), before);
  });

test('hostile paths are refused in every action that would create them', async () => {
  const parent = await start();
  const paths = [
    '../x',
    '/x',
    'x/',
    'a//b',
    '.',
    '.GIT/x',
    'git~1/x',
    '.git ',
    'x\n',
    'x\0',
    '',
    '\ud800',
    '.g\u200cit/x',
  ];
  for (const file_path of paths) {
    assert.deepEqual(await act(parent, [{ action: 'create', file_path, content: 'x' }]), {
      problem: 'invalid_path',
      file_path,
    });
    const moved = await act(parent, [{ action: 'move', file_path, previous_path: 'a' }]);
    assert.deepEqual(moved, { problem: 'invalid_path', file_path });
  }
});

test('names that look like options are treated as names', async () => {
  const paths = [
    '--upload-pack=touch',
    '-rf',
    '$(id)',
    '`id`',
    ';id',
    '%0a',
    '*',
    ':(glob)**',
    '@{-1}',
    'é ☃',
  ];
  const id = await done(
    null,
    paths.map((file_path) => ({ action: 'create', file_path, content: file_path })),
  );
  const names = await repository.git('-c', 'core.quotePath=false', 'ls-tree', '--name-only', '-z', id);
  assert.deepEqual(names.split('\0').filter(Boolean).toSorted(), paths.toSorted());
  const known = paths.map((file_path): Act => ({
    action: 'update',
    file_path,
    content: 'x',
    last_commit_id: id,
  }));
  await done(id, known);
});

test('a hostile .gitmodules is refused, as in a push, whichever action creates it', async () => {
  const good = '[submodule "lib"]\n\tpath = lib\n\turl = https://example.com/lib.git\n';
  const bad = [
    '[submodule "x"]\n\turl = --upload-pack=touch\n\tpath = x\n',
    '[submodule "../../x"]\n\turl = https://example.com/x\n\tpath = x\n',
    '[submodule "x"]\n\turl = https://example.com/x\n\tpath = -x\n',
    '[submodule "x"]\n\turl = https://example.com/x\n\tpath = x\n\tupdate = !touch\n',
  ];
  const parent = await done(null, [
    { action: 'create', file_path: 'a', content: 'a' },
    { action: 'create', file_path: 'harmless', content: bad[0]! },
  ]);
  await done(parent, [{ action: 'create', file_path: '.gitmodules', content: good }]);
  for (const content of bad)
    for (const file_path of ['.gitmodules', 'sub/.GITMODULES', 'gitmod~1']) {
      const refused = await act(parent, [{ action: 'create', file_path, content }]);
      assert.deepEqual(refused, { problem: 'invalid_path', file_path }, content);
    }
  const moved = await act(parent, [{ action: 'move', file_path: '.gitmodules', previous_path: 'harmless' }]);
  assert.deepEqual(moved, { problem: 'invalid_path', file_path: '.gitmodules' });
  const step = await done(parent, [{ action: 'create', file_path: '.gitmodules', content: good }]);
  const edited = await act(step, [{ action: 'update', file_path: '.gitmodules', content: bad[1]! }]);
  assert.deepEqual(edited, { problem: 'invalid_path', file_path: '.gitmodules' });
  await done(step, [
    { action: 'create', file_path: 'x', content: bad[0]! },
    { action: 'delete', file_path: '.gitmodules' },
  ]);
});

test('a symbolic link cannot become .gitmodules, and stays a link when edited', async () => {
  const first = await done(null, [{ action: 'create', file_path: 'a', content: 'a' }]);
  const blob = await repository.git('rev-parse', `${first}:a`);
  await repository.git('update-index', '--add', '--cacheinfo', `120000,${blob},link`);
  await repository.git('update-index', '--add', '--cacheinfo', `160000,${first},module`);
  const tree = await repository.git('write-tree');
  const parent = await repository.git('commit-tree', '-m', 'links', '-p', first, tree);
  const moved = await act(parent, [{ action: 'move', file_path: '.gitmodules', previous_path: 'link' }]);
  assert.deepEqual(moved, { problem: 'invalid_path', file_path: '.gitmodules' });
  const edited = await done(parent, [
    { action: 'update', file_path: 'link', content: 'b', execute_filemode: true },
    { action: 'move', file_path: 'module2', previous_path: 'module' },
  ]);
  assert.deepEqual(await list(edited), ['120000 link', '160000 module2']);
  const chmod = await act(parent, [{ action: 'chmod', file_path: 'link', execute_filemode: true }]);
  assert.deepEqual(chmod, { problem: 'invalid_path', file_path: 'link' });
  const module = await act(parent, [{ action: 'update', file_path: 'module', content: 'x' }]);
  assert.deepEqual(module, { problem: 'missing', file_path: 'module' });
});

test('a .gitattributes that git refuses is refused', async () => {
  const long = `*.c ${'x'.repeat(3000)}\n`;
  const refused = await act(null, [{ action: 'create', file_path: 'd/.gitattributes', content: long }]);
  assert.deepEqual(refused, { problem: 'invalid_path', file_path: 'd/.gitattributes' });
  await done(null, [{ action: 'create', file_path: 'd/.gitattributes', content: '*.c text\n' }]);
});

test('an action is refused if its last_commit_id is outdated', async () => {
  const first = await start();
  const second = await done(first, [{ action: 'update', file_path: 'a', content: '2' }]);
  const known = (last_commit_id: string, more: Partial<Act> = {}): Act[] => [
    { action: 'update', file_path: 'a', content: '3', last_commit_id, ...more },
  ];
  const changed = { problem: 'changed_meanwhile', file_path: 'a' };
  assert.deepEqual(await act(second, known(first)), changed);
  await done(second, known(second));
  await done(second, known(first, { file_path: 'd/b' }));
  assert.deepEqual(await act(second, known(second, { file_path: 'd/b' })), { ...changed, file_path: 'd/b' });
  const move = { action: 'move', file_path: 'new', previous_path: 'd/b' } as const;
  await done(second, [{ ...move, last_commit_id: first }]);
  assert.deepEqual(await act(second, [{ ...move, last_commit_id: second }]), {
    ...changed,
    file_path: 'new',
  });
  assert.deepEqual(await act(null, known(first)), changed);
});

test('an update to the same content creates a commit with the same tree', async () => {
  const parent = await start();
  const id = await done(parent, [{ action: 'update', file_path: 'a', content: 'a\n' }]);
  assert.notEqual(id, parent);
  assert.equal(
    await repository.git('rev-parse', `${id}^{tree}`),
    await repository.git('rev-parse', `${parent}^{tree}`),
  );
  assert.equal(await repository.git('show', '-s', '--format=%P', await done(parent, [])), parent);
});

test('content ranges outside the body, wrong parents and too many actions are refused', async () => {
  const parent = await start();
  const action = (content: { offset: number; length: number }): CommitAction => ({
    action: 'create',
    file_path: 'x',
    content,
  });
  const ask = async (content: { offset: number; length: number }, from: string | null) =>
    await repository.ask(
      'commit.actions',
      { parent: from, actions: [action(content)], message: 'm', ...by },
      Buffer.from('abc'),
    );
  for (const content of [
    { offset: 2, length: 2 },
    { offset: -1, length: 1 },
    { offset: 0, length: 1.5 },
    { offset: 2 ** 53, length: 1 },
  ])
    await assert.rejects(ask(content, parent), { kind: 'invalid' });
  await assert.rejects(ask({ offset: 0, length: 3 }, '1'.repeat(40)), { kind: 'missing' });
  await assert.rejects(ask({ offset: 0, length: 3 }, '--help'), { kind: 'invalid' });
  const blob = await repository.git('rev-parse', `${parent}:a`);
  await assert.rejects(ask({ offset: 0, length: 3 }, blob), { kind: 'invalid' });
  const many = Array.from({ length: 10_001 }, (_, index): Act => ({
    action: 'create',
    file_path: `f${index}`,
  }));
  assert.deepEqual(await act(parent, many), { problem: 'too_many', file_path: '' });
});

test('forty concurrent commits on one parent all succeed', async () => {
  const parent = await start();
  const numbers = Array.from({ length: 40 }, (_, index) => index);
  const ids = await Promise.all(
    numbers.map(
      async (n) => await done(parent, [{ action: 'create', file_path: `n/${n}`, content: `${n}` }], `c ${n}`),
    ),
  );
  assert.equal(new Set(ids).size, 40);
  for (const [index, id] of ids.entries()) {
    await repository.git('update-ref', `refs/heads/b${index}`, id);
    assert.equal(await contentOf(id, `n/${index}`), String(index));
  }
});

test('a thousand files in one commit', async () => {
  const names = Array.from({ length: 1000 }, (_, index) => `d${index % 30}/f${index}`);
  const id = await done(
    null,
    names.map((file_path) => ({ action: 'create', file_path, content: file_path })),
  );
  assert.equal((await list(id)).length, 1000);
  const folders = await readdir(join(repository.dir, 'objects'));
  assert.deepEqual(
    folders.filter((name) => name.startsWith('tmp')),
    [],
  );
});

test('annotated tags equal those of git', async () => {
  const target = await start();
  const params = { name: 'v1.0', target, message: 'First\n\n\nrelease  ', tagger: ada };
  const { id } = await repository.ask('tag.create', params);
  const text = await repository.git('cat-file', 'tag', id);
  const wanted = `object ${target}\ntype commit\ntag v1.0\ntagger Ada <ada@example.com> 1600000000 +0000\n\nFirst\n\nrelease`;
  assert.equal(text, wanted);
  await repository.git('update-ref', 'refs/tags/v1.0', id);
  const tagOfTag = await repository.ask('tag.create', { ...params, name: 'v2', target: id });
  assert.ok((await repository.git('cat-file', 'tag', tagOfTag.id)).includes('type tag'));
  for (const name of ['-d', 'a b', 'a..b', 'a\nobject x', '', 'HEAD', 'refs/heads/x', 'x.lock'])
    await assert.rejects(repository.ask('tag.create', { ...params, name }), { kind: 'invalid' });
  await assert.rejects(repository.ask('tag.create', { ...params, target: '2'.repeat(40) }), {
    kind: 'missing',
  });
});
