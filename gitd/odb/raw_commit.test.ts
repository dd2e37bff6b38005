import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { tryGit } from '../../test/support/repositories/git.ts';
import { useRepository } from '../../test/support/repositories/repository_storage.ts';
import { emptyTree, type Signature } from '../protocol_records.ts';
import { buildCommit, formatSignature, parseRawCommit, rebuildCommit } from './raw_commit.ts';
import { hashObject } from './loose_object_writer.ts';

const { repository } = useRepository();

const ada: Signature = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  time: 1_500_000_000,
  offset: '+0100',
};

/** Returns the id of the same commit written by git. */
const commitByGit = async (person: Signature, message: string): Promise<string> => {
  const env = {
    GIT_AUTHOR_NAME: person.name,
    GIT_AUTHOR_EMAIL: person.email,
    GIT_AUTHOR_DATE: `@${person.time} ${person.offset}`,
    GIT_COMMITTER_NAME: person.name,
    GIT_COMMITTER_EMAIL: person.email,
    GIT_COMMITTER_DATE: `@${person.time} ${person.offset}`,
    GIT_DIR: repository.dir,
  };
  const file = join(repository.dir, 'message');
  await writeFile(file, message);
  const { code, stdout, stderr } = await tryGit(repository.dir, ['commit-tree', emptyTree, '-F', file], env);
  assert.equal(code, 0, stderr);
  return stdout.trim();
};

const idOf = (person: Signature, message: string): string =>
  hashObject(
    'commit',
    buildCommit({ tree: emptyTree, parents: [], author: person, committer: person, message }),
  );

const messages = [
  'One line',
  'One line\n',
  '\n\n  indented first\n\n\n\nsecond  \t\n\n',
  'blanks at the end \t \r\nand more\t',
  '# not a comment\n# neither',
  'Ünïcødé ☃ 漢字 \u{1f600}',
  '\n \n\t\n',
  'a\vb\f\n',
];

for (const message of messages)
  test(`the message ${JSON.stringify(message)} is stored as it is`, async () => {
    assert.equal(idOf(ada, message), await commitByGit(ada, message));
  });

const names = ['Ada', ' Ada , ', 'A<d>a\nL', '"Ada"', 'J. R.', "O'Neil", 'Ünï ☃', 'a\tb', '-x'];

for (const name of names)
  test(`a person called ${JSON.stringify(name)} is written as git does`, async () => {
    const person = { ...ada, name, email: ' <ada@example.com>, ' };
    assert.equal(idOf(person, 'x'), await commitByGit(person, 'x'));
  });

test('times before 1970 and malformed offsets are refused, empty names get a replacement', () => {
  assert.throws(() => formatSignature({ ...ada, time: -1 }), { kind: 'invalid' });
  assert.throws(() => formatSignature({ ...ada, time: 1.5 }), { kind: 'invalid' });
  assert.throws(() => formatSignature({ ...ada, time: 2 ** 60 }), { kind: 'invalid' });
  assert.throws(() => formatSignature({ ...ada, offset: '+01:00' }), { kind: 'invalid' });
  assert.throws(() => formatSignature({ ...ada, offset: '+0100\nparent x' }), { kind: 'invalid' });
  assert.equal(formatSignature({ ...ada, name: '<>' }), 'ada <ada@example.com> 1500000000 +0100');
  assert.equal(formatSignature({ ...ada, name: '', email: '' }), 'unknown <> 1500000000 +0100');
});

test('no name or message can inject a header into the commit', async () => {
  const evil = { ...ada, name: 'A\nparent 0123\0', email: 'a>\n<b\0' };
  const commit = buildCommit({
    tree: emptyTree,
    parents: [],
    author: evil,
    committer: evil,
    message: 'a\0b',
  });
  assert.equal(
    commit.toString(),
    `tree ${emptyTree}\nauthor Aparent 0123 <ab> 1500000000 +0100\ncommitter Aparent 0123 <ab> 1500000000 +0100\n\nab`,
  );
});

test('a lone surrogate becomes a replacement character', () => {
  const commit = buildCommit({
    tree: emptyTree,
    parents: [],
    author: ada,
    committer: ada,
    message: 'a\ud800b',
  });
  assert.ok(commit.toString('utf8').endsWith('a\ufffdb'));
});

test('a message has a limit', () => {
  const commit = { tree: emptyTree, parents: [], author: ada, committer: ada };
  assert.throws(() => buildCommit({ ...commit, message: 'x'.repeat(5 * 2 ** 20) }), { kind: 'too_large' });
});

test('a rebuilt commit keeps author, encoding and message to the byte, and drops signatures', () => {
  const content = Buffer.concat([
    Buffer.from(`tree ${emptyTree}\nparent ${'1'.repeat(40)}\nauthor J`),
    Buffer.from([0xf6]),
    Buffer.from(
      'rg <j@x> 1 +0000\ncommitter X <x@x> 2 +0000\ngpgsig -----BEGIN\n tree of nothing\n -----END\n',
    ),
    Buffer.from('encoding ISO-8859-1\n\n  gr'),
    Buffer.from([0xfc]),
    Buffer.from('n  \n\n\nparent x'),
  ]);
  const raw = parseRawCommit(content);
  assert.deepEqual([raw.tree, raw.parents, raw.encoding], [emptyTree, ['1'.repeat(40)], 'ISO-8859-1']);
  const rebuilt = rebuildCommit(raw, { tree: '2'.repeat(40), parents: ['3'.repeat(40)], committer: ada });
  assert.equal(
    rebuilt.toString('latin1'),
    `tree ${'2'.repeat(40)}\nparent ${'3'.repeat(40)}\nauthor J\xf6rg <j@x> 1 +0000\n` +
      'committer Ada Lovelace <ada@example.com> 1500000000 +0100\nencoding ISO-8859-1\n\n  gr\xfcn  \n\n\nparent x',
  );
});
