import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode, html } from './html.ts';

test('escapes values, and nested templates only once', () => {
  const inner = html`<b>${'<i>&"\''}</b>`;
  assert.equal(
    html`<p title="${'"'}">${inner}</p>`.text,
    '<p title="&quot;"><b>&lt;i&gt;&amp;&quot;&#39;</b></p>',
  );
});

test('joins lists; null, undefined and false are empty; 0 is 0', () => {
  assert.equal(html`${[html`<li>`, 'a', ['<', 1]]}${null}${undefined}${false}${0}`.text, '<li>a&lt;10');
});

test('keeps a backslash and a $', () => {
  assert.equal(html`a\\b${'$&\\n'}`.text, 'a\\b$&amp;\\n');
});

test('an encoded part goes in unchanged, wherever it stands', () => {
  const part = encode(html`<b>${'ü<'}</b>`);
  const whole = html`<p>${'é'}${[part, html`<i>${part}</i>`]}</p>`;
  const text = '<p>é<b>ü&lt;</b><i><b>ü&lt;</b></i></p>';
  assert.equal(whole.text, text);
  assert.equal(String(whole.body), text);
  assert.ok(whole.body instanceof Buffer);
  assert.equal(html`<p>${'é'}</p>`.body, '<p>é</p>');
});
