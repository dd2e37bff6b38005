import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { closingExternalKeys, closingReferences } from './closing_pattern.ts';
import { sample, times } from '../../../../test/support/run/sample.ts';

const defaults = { baseUrl: 'https://git.example.com', namespace: 'group', project: 'group/here' };

const closed = (text: string, options = defaults): string[] =>
  closingReferences(text, options).map(({ project, iid }) => `${project}#${iid}`);

describe('closingReferences', () => {
  const rows: [string, string[]][] = [
    ['Closes #1, #2 and group/proj#3', ['group/here#1', 'group/here#2', 'group/proj#3']],
    ['closes #1 #2', ['group/here#1', 'group/here#2']],
    ['Closes #1, and #2', ['group/here#1', 'group/here#2']],
    ['Fixes: #4', ['group/here#4']],
    ['CLOSES #1', []],
    ['Closes#1', []],
    ['Disclosed #9', []],
    ['Implements #3', ['group/here#3']],
    ['fixing issues #6, #7 and #8', ['group/here#6', 'group/here#7', 'group/here#8']],
  ];
  const phrases: [string, string[]][] = [
    ['Closes issue #1, issues #2', ['group/here#1', 'group/here#2']],
    ['Closes   #1   ,   #2   and   #3', ['group/here#1', 'group/here#2', 'group/here#3']],
    ['Closes #1,#2,and #3', ['group/here#1', 'group/here#2']],
    ['Closes #1#2', ['group/here#1', 'group/here#2']],
    ['Closes #1 or #2', ['group/here#1']],
    ['Closes #1 and and #2', ['group/here#1']],
    ['Closes #1,\n#2', ['group/here#1']],
    ['Closes\n#1', []],
    ['Closes:#1', []],
    ['Closes :: #1', []],
    ['Closes the #1', []],
    ['closed #1. Fixed #2', ['group/here#1', 'group/here#2']],
    ['fix #1, closes #2', ['group/here#1', 'group/here#2']],
    ['Closes closes #1', ['group/here#1']],
    ['re_closes #1 7fixes #2', []],
    ['Affix #1 suffix #2 prefixes #3', []],
    ['(fixes #1)', ['group/here#1']],
    ['Title\n\nCloses #1\nCloses #2', ['group/here#1', 'group/here#2']],
    ['#1 closes', []],
    ['', []],
    [
      'Fix #20, Fixes #21 and Closes group/other#22. This is also related to #17 and fixes #18, #19 and ' +
        'https://git.example.com/group/other/issues/23.',
      [20, 21]
        .map((iid) => `group/here#${iid}`)
        .concat('group/other#22', 'group/here#18', 'group/here#19', 'group/other#23'),
    ],
  ];
  const references: [string, string[]][] = [
    ['Closes proj#3', ['group/proj#3']],
    ['Closes a/b/c#3', ['a/b/c#3']],
    ['Closes my.proj-x_1#3', ['group/my.proj-x_1#3']],
    ['Closes issue#3', ['group/issue#3']],
    ['Closes -proj#3, Closes a//b#3, Closes /a#3, Closes a/#3, Closes a.#3', []],
    ['Closes #1abc #1_', []],
    ['Closes #0', []],
    ['Closes #007', ['group/here#7']],
    ['Closes #999999999999999', ['group/here#999999999999999']],
    ['Closes #1000000000000000', []],
    ['Closes #', []],
    ['Closes #１', []],
    [`Closes ${'a'.repeat(1100)}#1`, []],
    ['Closes #1 #1 here#1 group/here#1 Group/Here#1', ['group/here#1']],
  ];
  const addresses: [string, string[]][] = [
    ['Closes https://git.example.com/a/b/issues/1', ['a/b#1']],
    ['Closes https://git.example.com/a/b/-/issues/1', ['a/b#1']],
    ['Closes http://GIT.example.com/a/b/c/-/issues/1', ['a/b/c#1']],
    ['Closes https://git.example.com/a/b/issues/1, #2', ['a/b#1', 'group/here#2']],
    ['Closes https://git.example.com/a/b/issues/1#note_5 and #2', ['a/b#1', 'group/here#2']],
    ['Closes https://git.example.com/a/b/issues/1/?x=1&y=2, #2', ['a/b#1', 'group/here#2']],
    ['Closes https://git.example.com/a/b/issues/1/designs #2', ['a/b#1', 'group/here#2']],
    ['Closes https://git.example.com/a/issues/issues/1', ['a/issues#1']],
    ['Closes https://git.example.com/a/b/issues/1x', []],
    ['Closes https://git.example.com/a/b/issues/', []],
    ['Closes https://git.example.com/a/b/issues/0', []],
    ['Closes https://git.example.com/a/b/merge_requests/1', []],
    ['Closes https://git.example.com/a/issues/1', []],
    ['Closes https://git.example.com/-/a/-/issues/1', []],
    ['Closes https://git.example.com', []],
    ['Closes https://git.example.com.evil/a/b/issues/1', []],
    ['Closes https://evil.example.com/a/b/issues/1, #2', []],
    ['Closes ftp://git.example.com/a/b/issues/1', []],
    ['Closes https#3', ['group/https#3']],
  ];
  for (const [text, expected] of [...rows, ...phrases, ...references, ...addresses]) {
    it(`reads ${JSON.stringify(text).slice(0, 80)}`, () => assert.deepEqual(closed(text), expected));
  }

  it('knows every keyword, in lower case or with a capital', () => {
    const closeWords = 'close closes closed closing fix fixes fixed fixing';
    const otherWords = 'resolve resolves resolved resolving implement implements implemented implementing';
    for (const word of `${closeWords} ${otherWords}`.split(' ')) {
      assert.deepEqual(closed(`${word} #1`), ['group/here#1'], word);
      assert.deepEqual(closed(`${word.charAt(0).toUpperCase()}${word.slice(1)}: #1`), ['group/here#1'], word);
    }
    for (const word of ['clos', 'closer', 'fixe', 'resolv', 'implementation', 'cLoses', 'close_s', 'ﬁxes']) {
      assert.deepEqual(closed(`${word} #1`), [], word);
    }
  });

  it('reads addresses below the relative path of the instance', () => {
    const options = { ...defaults, baseUrl: 'http://localhost:8080/git/' };
    assert.deepEqual(closed('Closes http://localhost:8080/git/a/b/issues/1', options), ['a/b#1']);
    assert.deepEqual(closed('Closes http://localhost:8080/a/b/issues/1', options), []);
    const named = { ...defaults, baseUrl: 'https://GIT.example.com' };
    assert.deepEqual(closed('Closes https://git.Example.com/a/b/issues/1', named), ['a/b#1']);
  });

  it('stops at 100 references and behind the first mebibyte', () => {
    const many = Array.from({ length: 150 }, (_, index) => `#${index + 1}`).join(', ');
    assert.equal(closed(`Closes ${many}`).length, 100);
    assert.deepEqual(closed(`${' '.repeat(2 ** 20 - 9)}Closes #1`), ['group/here#1']);
    assert.deepEqual(closed(`${' '.repeat(2 ** 20)}Closes #1`), []);
  });

  it('agrees with the pattern written as a regular expression', () => {
    const keyword = String.raw`\b(?:[Cc]los(?:e[sd]?|ing)|[Ff]ix(?:e[sd]|ing)?|[Rr]esolv(?:e[sd]?|ing)|[Ii]mplement(?:s|ed|ing)?)`;
    const part = String.raw`[A-Za-z0-9_][A-Za-z0-9_-]*`;
    const reference = String.raw`(?:${part}(?:\/${part})*)?#[1-9]\d*(?!\w)`;
    const separator = String.raw`(?: *,? +and +| *,? *)?`;
    const key = String.raw`[A-Z][A-Z0-9_]+-\d+(?!\w)`;
    const pattern = new RegExp(`${keyword}:? +(?:(?:issues? +)?(${reference})${separator}|(${key}))+`, 'g');
    const expected = (text: string) =>
      [...text.matchAll(pattern)].flatMap(
        ([phrase]) => phrase.match(new RegExp(`${reference}|${key}`, 'g')) ?? [],
      );
    const word = fc.constantFrom(
      'closes',
      'Fixes',
      'fix:',
      'issue',
      'issues',
      'and',
      'the',
      'AB-1',
      'AB-1',
      '-',
    );
    const sign = fc.constantFrom(
      ' ',
      ' ',
      ' ',
      ',',
      ', ',
      ' and ',
      '\n',
      '/',
      '#',
      '#1',
      '#2',
      '#3',
      'p#1',
      'g/p#4',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(word, sign), { maxLength: 30 }), (pieces) => {
        const text = pieces.join('');
        const expectedNames = expected(text).map((each) => {
          if (!each.includes('#')) return each;
          return each.startsWith('#') ? `group/here${each}` : each.includes('/') ? each : `group/${each}`;
        });
        assert.deepEqual(
          closed(text),
          [...new Set(expectedNames.filter((each) => each.includes('#')))],
          text,
        );
        assert.deepEqual(
          closingExternalKeys(text),
          [...new Set(expectedNames.filter((each) => !each.includes('#')))],
          text,
        );
      }),
      { numRuns: times(2000, 500) },
    );
  });

  it('finds closing references in a mebibyte of any text in linear time', () => {
    const pieces = [
      'Closes #1, ',
      '#1 ',
      'closes ',
      'closes  ',
      'Closes issue ',
      'a',
      'a/',
      'closes a/',
      '1',
      ' ',
    ];
    const more = [
      '#1 and ',
      'https://',
      'Closes https://git.example.com/',
      '-',
      '.',
      ',',
      'AB',
      'Closes AB-',
      'é',
    ];
    for (const piece of sample([...pieces, ...more], 4, String)) {
      const text = `Closes #1 ${piece.repeat(Math.ceil(2 ** 20 / piece.length))}`;
      // Anything worse than linear would not end within the runner's limit.
      assert.ok(closingReferences(text, defaults).length <= 100, JSON.stringify(piece));
      assert.ok(closingExternalKeys(text).length <= 100, JSON.stringify(piece));
    }
  });
});

describe('closingExternalKeys', () => {
  const rows: [string, string[]][] = [
    ['Closes ABC-12', ['ABC-12']],
    ['Closes AB-1', ['AB-1']],
    ['Fixes: ABC-12ABC-13', []],
    ['Closes #1, ABC-12', ['ABC-12']],
    ['Closes https://any.example.com/a/b/issues/1, ABC-12', ['ABC-12']],
    ['Closes ABC-12, ABC-13', ['ABC-12']],
    ['Closes ABC-12 and closes ABC-12, fixes A_1-3', ['ABC-12', 'A_1-3']],
    ['Closes A-1, Closes abc-1, Closes 1AB-1, Closes AB-, Closes AB-1x, ABC-1', []],
    ['Closes AB-1#2', []],
  ];
  for (const [text, expected] of rows) {
    it(`reads ${JSON.stringify(text)}`, () => assert.deepEqual(closingExternalKeys(text), expected));
  }

  it('finds at most 100 external keys', () => {
    const many = Array.from({ length: 150 }, (_, index) => `Closes ABC-${index}`).join(' ');
    assert.equal(closingExternalKeys(many).length, 100);
  });

  it('leaves keys out of the references and goes on behind them', () => {
    assert.deepEqual(closed('Closes #1 ABC-12 #2'), ['group/here#1']);
    assert.deepEqual(closed('Closes AB-1#2'), ['group/AB-1#2']);
  });
});
