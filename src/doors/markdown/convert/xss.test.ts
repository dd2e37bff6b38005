/** Nothing in a text becomes active: known attacks, and generated ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { seed, times } from '../../../../test/support/run/sample.ts';
import { findUnsafeMarkup } from '../../../../test/support/safe_html.ts';
import { xssVectors } from '../../../../test/support/xss_vectors.ts';
import { convert } from './convert.ts';
import { makeFormulaRenderer } from './math/render_formulas.ts';
import type { ConvertOptions } from './options.ts';

const origin = 'https://git.example.com';

const base: ConvertOptions = {
  project: { id: 4, full_path: 'group/project' },
  ref: 'main',
  path: 'doc/README.md',
  baseUrl: origin,
  isAbsolute: false,
  diagramServer: null,
  imageKey: null,
  hasReferences: true,
};

/** With formulas, as in the worker thread, and with images of other sites. */
const write = (text: string, options: Partial<ConvertOptions> = {}): string =>
  convert(text, { ...base, imageKey: 'ab'.repeat(32), ...options }, makeFormulaRenderer())
    .map((part) => (typeof part === 'string' ? part : part.plain))
    .join('');

const assertSafe = (text: string, options: Partial<ConvertOptions> = {}): void => {
  const html = write(text, options);
  const fault = findUnsafeMarkup(html, origin);
  assert.equal(fault, null, `${JSON.stringify(text)} became ${html}`);
};

test('known attacks become text, or nothing', () => {
  assert.ok(xssVectors.length > 500);
  for (const text of xssVectors) {
    assertSafe(text);
    assertSafe(text, { project: null, isAbsolute: true });
    assertSafe(`> - ${text.replaceAll('\n', '\n>   ')}`);
    assertSafe(`<b>${text}\n\n*${text}*`);
    assertSafe(`$\`${text}\`$\n\n$$\n${text}\n$$\n\n$$\\text{${text}}$$\n\n\`\`\`math\n${text}\n\`\`\``);
  }
});

test('the check finds what is active', () => {
  for (const html of [
    '<script>',
    '<b onclick="x">',
    '<a href="javascript:x">',
    '<img src="//evil.example/a">',
    '<b style="x">',
    '<b',
    '<a href="java&#39;script:x" x>',
    '<p id="x">',
    '<b>"<i>" x=">',
  ]) {
    assert.notEqual(findUnsafeMarkup(html, origin), null, html);
  }
  assert.equal(findUnsafeMarkup('<p dir="auto">a<br></p>\n&lt;', origin), null);
});

const pieces = [
  ...Array.from('<>"\'`=/\\&;:#![]()*_~|^@%$-+. \n\t\0'),
  'a',
  '<a href=',
  '<img src=',
  '<svg',
  '<style>',
  '</p>',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<?',
  '```',
  '```math\n',
  '$`',
  '`$',
  '$$',
  '\\text{',
  '\\href{javascript:alert(1)}{',
  '\\frac{',
  '~~~',
  'javascript:',
  'data:',
  'onerror=alert(1)',
  '&#x6a;',
  '&colon;',
  '\u2028',
  '\ud800',
  '[^1]',
  '[^1]: ',
  '- [ ] ',
  '>>>',
  '> ',
  '1. ',
  '|-|',
  '| a |',
  '# ',
  '<details>',
  '<summary>',
  '<table>',
  '<math>',
  '</math>',
  'style=',
  'id=',
  '[a](',
  '![a](',
  '[a]: ',
  'https://evil.example',
  'www.a.b',
  'me@a.example',
  ':tada:',
  '<textarea>',
  '<noscript>',
  '{+ ',
  ' +}',
  '[- ',
  ' -]',
  '> [!note] ',
  '>>> [!tip]',
  '\n[[_TOC_]]\n\n',
  '$`',
  '`$',
  '---\na: ',
  '\n---\n',
  '- [~] ',
];

test('no text made of such pieces becomes active, and each converts', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 40 }), (parts) => {
      assertSafe(parts.join(''));
    }),
    { numRuns: times(1_500, 400), seed },
  );
});
