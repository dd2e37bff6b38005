import assert from 'node:assert/strict';
import { test } from 'node:test';
import { html } from './html.ts';

test('values are escaped, templates inside templates are not escaped twice', () => {
  const inner = html`<b>${'<i>&"\''}</b>`;
  assert.equal(
    html`<p title="${'"'}">${inner}</p>`.text,
    '<p title="&quot;"><b>&lt;i&gt;&amp;&quot;&#39;</b></p>',
  );
});

test('lists are joined; null, undefined and false are nothing; 0 is 0', () => {
  assert.equal(html`${[html`<li>`, 'a', ['<', 1]]}${null}${undefined}${false}${0}`.text, '<li>a&lt;10');
});

test('a backslash and a $ go through as they are', () => {
  assert.equal(html`a\\b${'$&\\n'}`.text, 'a\\b$&amp;\\n');
});
