import assert from 'node:assert/strict';
import { test } from 'node:test';
import { label } from './label.ts';

test('paints a label in its color, without a style attribute', () => {
  const { text } = label({ name: 'bug <b>', color: '#D9534F' }, '/a/b/-/issues?label_name=bug');
  assert.match(text, /^<a class="label" href="\/a\/b\/-\/issues\?label_name=bug"><svg aria-hidden="true">/);
  assert.match(text, /fill="#D9534F"[\s\S]+bug &lt;b&gt;<\/a>$/);
  assert.doesNotMatch(text, /style=/);
});

test('sets off the key of a scoped label, and reads as its title', () => {
  const read = (name: string): string => label({ name, color: '#fff' }).text.replaceAll(/<[^>]+>/g, '');
  for (const name of ['area::solver', 'a::b::c', '::x', 'x::', 'plain']) assert.equal(read(name), name);
  const keys = (name: string): number =>
    label({ name, color: '#fff' }).text.split('class="scope"').length - 1;
  assert.deepEqual(['area::solver', 'a::b::c', '::x', 'x::', 'plain'].map(keys), [1, 1, 0, 0, 0]);
});
