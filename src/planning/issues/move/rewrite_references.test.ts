import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listReferencedIids, rewriteReferences } from './rewrite_references.ts';

const iids = new Set([1, 2, 33]);

describe('rewriteReferences', () => {
  const rows: [string, string][] = [
    ['', ''],
    ['no reference', 'no reference'],
    ['#1', 'g/p#1'],
    ['see #1, #33 and #2.', 'see g/p#1, g/p#33 and g/p#2.'],
    ['(#1)', '(g/p#1)'],
    ['!4 and !5', 'g/p!4 and g/p!5'],
    ['#3', '#3'],
    ['#01 #0', '#01 #0'],
    ['#1a #1_ #123456', '#1a #1_ #123456'],
    ['a#1 other#1 g/q#1 &#1; x.#1 é#1', 'a#1 other#1 g/q#1 &#1; x.#1 é#1'],
    ['##1 #!1', '##1 #!1'],
    ['# 1\n## #1', '# 1\n## g/p#1'],
    ['`#1` #1 ``#1 ` #1`` #1', '`#1` g/p#1 ``#1 ` #1`` g/p#1'],
    ['a ` #1', 'a ` g/p#1'],
    ['```\n#1\n```\n#1', '```\n#1\n```\ng/p#1'],
    ['~~~ sh\n#1\n```\n#1\n~~~\n#1', '~~~ sh\n#1\n```\n#1\n~~~\ng/p#1'],
    ['a\r\n#1\r\n', 'a\r\ng/p#1\r\n'],
    ['`a\n#1` #1', '`a\n#1` g/p#1'],
    ['> ```\n> #1\n> ```\n\\`#1 `#1', '> ```\n> #1\n> ```\n\\`g/p#1 `g/p#1'],
    ['[top](#1) http://example.com/a#1', '[top](#1) http://example.com/a#1'],
  ];
  for (const [before, after] of rows) {
    it(`makes ${JSON.stringify(before)} ${JSON.stringify(after)}`, () =>
      assert.equal(rewriteReferences(before, 'g/p', iids), after));
  }

  it('rewrites references in linear time', () => {
    assert.equal(rewriteReferences('#1 '.repeat(300_000), 'g/p', iids).length, 1_800_000);
    let runs = '';
    for (let length = 1; length < 1400; length += 1) runs += `${'`'.repeat(length)} `;
    assert.equal(rewriteReferences(`${runs}#1`, 'g/p', iids), `${runs}g/p#1`);
  });
});

it('referredIids names each issue once, and none in code', () => {
  assert.deepEqual(listReferencedIids('#1 #2 #1 `#3` !4 x#5\n```\n#6\n```'), [1, 2]);
});
