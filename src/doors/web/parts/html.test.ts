import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { encode, html } from './html.ts';
import { streamInOrder } from './diff/stream_in_order.ts';

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

test('streams a list in its order, with what stands around it', async () => {
  const part = streamInOrder([3, 1, 2], async (number) => {
    for (let at = 0; at < number; at += 1) await turn();
    return html`<li>${number}</li>`;
  });
  const page = html`<ul>${[part]}</ul>`;
  assert.ok(page.isStreamed);
  assert.deepEqual(await Array.fromAsync(page.chunks()), [
    '<ul>',
    '<li>3</li>',
    '<li>1</li>',
    '<li>2</li>',
    '</ul>',
  ]);
  assert.throws(() => page.text, /a streamed part has no text/);
});

test('renders one item ahead of the reader, and nothing for a reader who goes away', async () => {
  const rendered: number[] = [];
  const part = streamInOrder([1, 2, 3, 4], async (number) => {
    rendered.push(number);
    return html`${number}`;
  });
  const chunks = html`<p>${part}</p>`.chunks();
  await chunks.next();
  assert.deepEqual(rendered, []);
  await chunks.next();
  await chunks.return(undefined);
  assert.deepEqual(rendered, [1, 2]);
});
