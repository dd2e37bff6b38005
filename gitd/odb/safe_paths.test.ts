import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tryGit } from '../../test/support/repositories/git.ts';
import { useRepository } from '../../test/support/repositories/repository_storage.ts';
import { makeObjectWriter } from './loose_object_writer.ts';
import { isGitmodules, isSafePath, isJudgedByContent } from './safe_paths.ts';
import { buildTree, toByteString } from './raw_tree.ts';

const { repository } = useRepository();

/** Returns whether git accepts a tree with one file of this name. */
const isGoodForGit = async (name: string): Promise<boolean> => {
  const writer = makeObjectWriter(`${repository.dir}/objects`);
  const id = writer.add('blob', Buffer.from('x'));
  const tree = writer.add('tree', buildTree([{ mode: 0o100644, name: toByteString(name), id }]));
  await writer.flush();
  const { stderr, stdout } = await tryGit(repository.dir, [
    `--git-dir=${repository.dir}`,
    'fsck',
    '--no-dangling',
    tree,
  ]);
  return !`${stdout}${stderr}`.includes(`in tree ${tree}`);
};

const zeroWidth = '\u200c';

const hostileNames = [
  '.',
  '..',
  '.git',
  '.GIT',
  '.Git',
  '.git ',
  '.git.',
  '.git. . ',
  '.git::$INDEX_ALLOCATION',
  '.git:x',
  'git~1',
  'GIT~1',
  'git~1 ',
  'git~1::$INDEX_ALLOCATION',
  `.g${zeroWidth}it`,
  `${zeroWidth}.git`,
  `.git${zeroWidth}`,
  `.G\u202eI\u206fT`,
  '.git\ufeff',
  'a\\.git',
  'a\\.git\\hooks',
  '.git\\hooks',
  'git~1\\config',
];

for (const name of hostileNames)
  test(`the name ${JSON.stringify(name)} is refused, as git refuses it`, async () => {
    assert.equal(isSafePath(name), false);
    assert.equal(isSafePath(`a/${name}/b`), false, 'as a folder');
    assert.equal(await isGoodForGit(name), false, 'git says so, too');
  });

const badPaths = [
  '',
  '/',
  '/a',
  'a/',
  'a//b',
  'a/../b',
  './a',
  'a\0b',
  'a\nb',
  'a\\..\\b',
  '..\\a',
  '\ud800',
  'x'.repeat(256),
  'é'.repeat(128),
  `${'d/'.repeat(128)}f`,
  Array.from({ length: 20 }, () => 'y'.repeat(250)).join('/'),
];

for (const path of badPaths)
  test(`the path ${JSON.stringify(path.slice(0, 30))} (${path.length}) is refused`, () => {
    assert.equal(isSafePath(path), false);
  });

const goodNames = [
  'a',
  '-rf',
  '--upload-pack=x',
  '.gitignore',
  '.gitkeep',
  '.github',
  'git~2',
  'git~10',
  '.git~1',
  'git',
  '...',
  '. ',
  ' ',
  'a b',
  'naïve ☃ 漢字',
  'a\\b',
  'a:b',
  'x'.repeat(255),
  '\u202eabc',
  'é'.repeat(127),
];

for (const name of goodNames)
  test(`the name ${JSON.stringify(name.slice(0, 30))} is taken, as git takes it`, async () => {
    assert.equal(isSafePath(name), true);
    assert.equal(await isGoodForGit(name), true);
  });

test('names that a file system treats as .gitmodules are recognized', () => {
  const names = [
    '.gitmodules',
    '.GITMODULES',
    '.gitmodules ',
    '.gitmodules.',
    '.gitmodules:$DATA',
    'gitmod~1',
    'GITMOD~4',
    'gi7eba~1',
    'gi7eb~10',
    'GI7E~123',
    '~1000000',
    `.git${zeroWidth}modules`,
  ];
  for (const name of names) assert.equal(isGitmodules(`a/b/${name}`), true, name);
  for (const name of [
    '.gitmodule',
    'gitmod~5',
    'gitmod~0',
    'gi7eba~0',
    'gi7eba~10',
    '.gitmodulesx',
    'gitmodules',
  ])
    assert.equal(isGitmodules(name), false, name);
  assert.equal(isJudgedByContent('a/.gitattributes'), true);
  assert.equal(isJudgedByContent('a/gi7d29~1'), true);
  assert.equal(isJudgedByContent('a/.gitattributes/b'), false);
});
