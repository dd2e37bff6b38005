import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import { definitions } from './quick_action_words.ts';
import { extractQuickActions, labelsNamed, milestoneNamed, usersNamed } from './quick_actions.ts';

const extracted = (text: string) => {
  const { text: rest, actions } = extractQuickActions(text);
  return [rest, ...actions.map(({ name, argument }) => `${name}(${argument})`)];
};

describe('extractQuickActions', () => {
  const rows: [string, string[]][] = [
    ['', ['']],
    ['and/or', ['and/or']],
    ['/close', ['', 'close()']],
    ['/CLOSE', ['', 'close()']],
    ['one\n/label ~bug\ntwo', ['one\ntwo', 'label(~bug)']],
    ['one\r\n/label ~bug \r\ntwo', ['one\r\ntwo', 'label(~bug)']],
    ['/title  a  b ', ['', 'title(a  b)']],
    ['/label', ['', 'label()']],
    ['/labels ~a\n/remove_label ~b', ['', 'label(~a)', 'unlabel(~b)']],
    ['/due_date 2026-01-01\n/spend_time 1h', ['', 'due(2026-01-01)', 'spend(1h)']],
    ['/frobnicate ~a', ['/frobnicate ~a']],
    ['/constructor', ['/constructor']],
    ['/usr/bin', ['/usr/bin']],
    ['/close/', ['/close/']],
    ['/closed', ['/closed']],
    [' /close', [' /close']],
    ['please /close', ['please /close']],
    ['//close', ['//close']],
    ['```\n/close\n```', ['```\n/close\n```']],
    ['```\n/close\n```\n/reopen', ['```\n/close\n```', 'reopen()']],
    ['```\n/close', ['```\n/close']],
    ['````\n```\n/close\n````\n/reopen', ['````\n```\n/close\n````', 'reopen()']],
    ['~~~ sh\n/close\n~~~', ['~~~ sh\n/close\n~~~']],
    ['>>>\n/close\n>>>\n/reopen', ['>>>\n/close\n>>>', 'reopen()']],
    ['\n\n/close\n\ntext\n\n', ['text', 'close()']],
  ];
  for (const [text, expected] of rows) {
    it(`reads ${JSON.stringify(text)}`, () => assert.deepEqual(extracted(text), expected));
  }

  it('leaves a text without actions untouched', () => {
    assert.equal(extractQuickActions('  a/b\n').text, '  a/b\n');
  });

  it('finds quick actions in linear time', () => {
    const text = '/label '.concat('~a '.repeat(20_000), '\n').repeat(16);
    assert.equal(extractQuickActions(text).actions.length, 16);
    assert.equal(extractQuickActions('/'.repeat(1_000_000)).actions.length, 0);
    assert.equal(extractQuickActions('/label'.concat(' '.repeat(1_000_000), 'x')).actions.length, 1);
  });
});

it('labelsNamed reads references and plain words', () => {
  assert.deepEqual(labelsNamed('~bug ~"two words" ~12 plain "a b", last'), [
    'bug',
    'two words',
    12,
    'plain',
    'a b',
    'last',
  ]);
  assert.deepEqual(labelsNamed(''), []);
});

it('usersNamed reads names with and without @', () => {
  assert.deepEqual(usersNamed('@a @b.c-d, me'), ['a', 'b.c-d', 'me']);
});

it('milestoneNamed reads an iid or a title', () => {
  assert.deepEqual(['%1', '%v1', '%"a b"', 'a b', '1'].map(milestoneNamed), [1, 'v1', 'a b', 'a b', '1']);
});

test('the help lists every word of quick actions, for the records that have it', () => {
  const help = readFileSync(join(import.meta.dirname, '../../../../docs/quick_actions.md'), 'utf8');
  for (const { words, about, only, needsRecord = false } of definitions) {
    const row = help.split('\n').find((line) => new RegExp(`^\\| \`/${words[0]}[ \`]`).test(line));
    assert.ok(row !== undefined, words[0]);
    const where = only === undefined ? 'both' : only === 'Issue' ? 'issues' : 'merge requests';
    assert.ok(row.includes(about) && row.endsWith(`| ${where} | ${needsRecord ? 'no' : 'yes'} |`), row);
    for (const word of words) assert.ok(row.includes(`\`/${word}`), word);
  }
});
