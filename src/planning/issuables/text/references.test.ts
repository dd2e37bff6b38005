import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sample } from '../../../../test/support/run/sample.ts';
import { referencesIn } from './references.ts';

const options = { baseUrl: 'http://git.example.com/base/', project: 'group/sub/Project' };
const read = (text: string, from = options): string[] =>
  referencesIn(text, from).map(({ type, project, iid }) => `${project}${type === 'Issue' ? '#' : '!'}${iid}`);
const own = 'group/sub/project';

for (const [text, expected] of [
  ['#4, (!2) and #4. "#5"', [`${own}#4`, `${own}!2`, `${own}#5`]],
  ['other#1 Other/Thing!2', ['group/sub/other#1', 'other/thing!2']],
  ['x #0 #01 #1a &#39; a/#3 ##4 #!5 [top](#6) !a # 7', []],
  ['`#1` ``!2`` \n```\n#3\n```\n~~~\n#4\n~~~\n#5', [`${own}#5`]],
  ['http://git.example.com/base/a/b/issues/1', ['a/b#1']],
  ['<http://GIT.example.com/base/A/b/-/merge_requests/12#note_3>.', ['a/b!12']],
  ['http://git.example.com/a/b/issues/1 http://git.example.com/based/a/issues/1', []],
  ['http://elsewhere.example.com/a/b/issues/1 http://x/#3', []],
] as const) {
  test(text.slice(0, 40), () => assert.deepEqual(read(text), expected));
}

test('an instance without an address has no addresses', () =>
  assert.deepEqual(read('http://git.example.com/base/a/b/issues/1', { ...options, baseUrl: '' }), []));

test('finds at most fifty references', () => {
  const text = Array.from({ length: 60 }, (_, index) => `#${index + 1}`).join(' ');
  assert.equal(read(text).length, 50);
});

test('finds references in linear time', () => {
  // With quadratic time none of these would end.
  const parts = ['a/', 'a-', '#', '!', 'a#', 'http://', 'http://git.example.com/base/a', '](', '` '];
  for (const part of sample(parts, 3, String)) {
    assert.deepEqual(read(`${part.repeat(400_000)}\n\n#7`), [`${own}#7`], part);
  }
});
