import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { sample } from '../../../../test/support/run/sample.ts';
import { findAddressedNames, findMentionedNames } from './mentions.ts';

describe('findMentionedNames', () => {
  const rows: [string, string[]][] = [
    ['@alice', ['alice']],
    ['hello @alice and @bob!', ['alice', 'bob']],
    ['@bob @alice @bob @ALICE', ['bob', 'alice']],
    ['(@alice), "@bob": <@carol>', ['alice', 'bob', 'carol']],
    ['ask @alice.', ['alice']],
    ['ask @alice...@bob', ['alice', 'bob']],
    ['@a.b-c_d9 @.dot @x-', ['a.b-c_d9', '.dot', 'x-']],
    ['@-alice @ alice @... @', []],
    ['mail alice@example.com or josé@example.com', []],
    ['foo_@alice 1@bob é@carol 𝒳@dave', []],
    ['@alice@bob', ['alice']],
    ['日本@alice', []],
    ['日本 @alice さん', ['alice']],
    ['@alice/@bob', ['alice', 'bob']],
    ['@group/sub and @group/sub/deep and @g/s', ['group/sub', 'group/sub/deep', 'g/s']],
    ['@alice/ and @bob/-', ['alice', 'bob']],
    ['see https://example.com/@alice then @bob', ['bob']],
    ['<https://example.com/@alice>@bob', ['bob']],
    [`@${'a'.repeat(255)}`, ['a'.repeat(255)]],
    [`@${'a'.repeat(256)}`, []],
    ['', []],
  ];
  for (const [text, expected] of rows) {
    it(`finds ${JSON.stringify(expected).slice(0, 40)} in ${JSON.stringify(text).slice(0, 60)}`, () => {
      assert.deepEqual(findMentionedNames(text), expected);
    });
  }

  const coded: [string, string[]][] = [
    ['`@alice` @bob', ['bob']],
    ['``a ` @alice`` @bob', ['bob']],
    ['` @alice', ['alice']],
    ['`` @alice `', ['alice']],
    ['\\`@alice` @bob', ['alice', 'bob']],
    ['\\\\`@alice` @bob', ['bob']],
    ['`x\n@alice` @bob', ['bob']],
    ['`x\n\n@alice` @bob', ['alice', 'bob']],
    ['- `x\n- @alice` @bob', ['alice', 'bob']],
    ['```\n@alice\n```\n@bob', ['bob']],
    ['```js\r\n@alice\r\n```\r\n@bob', ['bob']],
    ['~~~\n@alice\n```\n@carol\n~~~~\n@bob', ['bob']],
    ['````\n@alice\n```\n@carol\n````\n@bob', ['bob']],
    ['```\n@alice', []],
    ['``` @alice ```\n@bob', ['bob']],
    ['> ```\n> @alice\n> ```\n> @bob', ['bob']],
    ['- ```\n  @alice\n  ```\n- @bob', ['bob']],
    ['1. x\n\n   ```\n   @alice\n   ```\n@bob', ['bob']],
    ['```\n@alice\n- ```\n@carol\n```\n@bob', ['bob']],
    ['~~@alice~~', ['alice']],
    ['~~~\n@alice\n~~~\n@bob', ['bob']],
    ['1. `x\n2. @alice` @bob', ['alice', 'bob']],
    ['`x\r\n\r\n@alice` @bob', ['alice', 'bob']],
    ['   ```\n@alice', []],
    ['\t```\n@alice', []],
    ['> ```\n> @alice', []],
    ['```\n@alice\n\t```\n@bob', ['bob']],
    ['\\\\\\`@alice` @bob', ['alice', 'bob']],
  ];
  for (const [text, expected] of coded) {
    it(`leaves code out of ${JSON.stringify(text)}`, () =>
      assert.deepEqual(findMentionedNames(text), expected));
  }

  it('finds at most 100 mentioned names', () => {
    const text = Array.from({ length: 150 }, (_, index) => `@user${index}`).join(' ');
    const expected = Array.from({ length: 100 }, (_, index) => `user${index}`);
    assert.deepEqual(findMentionedNames(text), expected);
    assert.deepEqual(findAddressedNames(text), expected);
    assert.deepEqual(findAddressedNames(text.replaceAll(' ', '\n')), expected);
  });

  it('finds every name set between blanks, once and in order', () => {
    const name = fc.stringMatching(/^[a-z0-9_][a-z0-9_.-]{0,10}[a-z0-9_-]$/);
    const names = fc.uniqueArray(name, { maxLength: 100 });
    fc.assert(
      fc.property(names, fc.array(fc.constantFrom(' ', ', ', '\n', ' (', ') ')), (expected, gaps) => {
        const text = expected.map((each, index) => `@${each}${gaps[index] ?? ' '}`).join(' ');
        assert.deepEqual(findMentionedNames(text), expected);
      }),
    );
  });

  it('returns distinct, well-formed names for any text', () => {
    const piece = fc.constantFrom(
      '@',
      'a',
      'B',
      '.',
      '-',
      '/',
      '`',
      '```',
      '~~~',
      '\n',
      ' ',
      '> ',
      '\\',
      'é',
      'https://',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const text = pieces.join('');
        const names = findMentionedNames(text);
        for (const name of names) assert.match(name, /^[A-Za-z0-9_.][A-Za-z0-9_./-]*$/);
        for (const name of names) assert.ok(!name.endsWith('.') && text.includes(`@${name}`));
        assert.equal(new Set(names.map((name) => name.toLowerCase())).size, names.length);
        const addressed = findAddressedNames(text).map((name) => name.toLowerCase());
        const mentioned = new Set(names.map((name) => name.toLowerCase()));
        assert.ok(addressed.every((name) => mentioned.has(name)));
      }),
    );
  });

  it('finds mentioned names in a mebibyte of any text in linear time', () => {
    const pieces = [
      '@a ',
      '@',
      '@a',
      '@.',
      '@a/',
      '@-',
      '` ',
      '`',
      '`` ` ',
      '\\',
      '```\n',
      '~~~ ',
      '> ',
      '- ',
    ];
    const more = ['https://', '@a\n', ' ', '\n', '>>>\n', '1. ', '.', 'a'];
    for (const piece of sample([...pieces, ...more], 4, String)) {
      const text = `@x ${piece.repeat(Math.ceil(2 ** 20 / piece.length))}\``;
      // Anything worse than linear would not end within the runner's limit.
      assert.ok(findMentionedNames(text).length <= 100, JSON.stringify(piece));
      assert.ok(findAddressedNames(text).length <= 100, JSON.stringify(piece));
    }
    const growing = Array.from({ length: 1400 }, (_, index) => '`'.repeat(index + 1)).join(' @a ');
    assert.ok(findMentionedNames(growing).length <= 1);
  });
});

describe('findAddressedNames', () => {
  const rows: [string, string[]][] = [
    ['@alice What do you think? cc: @bob', ['alice']],
    ['@erin @frank thank you!', ['erin', 'frank']],
    ['@erin, @frank thank you!', ['erin']],
    ['@erin and @frank', ['erin']],
    ['hello @alice', []],
    ['hello\n@alice, look\r\n@bob: you too', ['alice', 'bob']],
    ['   @alice', ['alice']],
    ['@alice\t@bob', ['alice', 'bob']],
    ['say `x`\n@alice', ['alice']],
    ['>>> \r\n@alice\r\n>>>\r\n@bob', ['bob']],
    ['    @alice', []],
    ['- @carol can you please have a look?', []],
    ['> @dan what do you think?', []],
    ['>>>\n@dan what do you think?\n>>>\n\n@erin @frank thank you!', ['erin', 'frank']],
    ['`x` @alice', []],
    ['`@alice`', []],
    ['```\n@alice\n```\n@bob', ['bob']],
    ['@alice@example.com', ['alice']],
    ['@group/sub @alice', ['group/sub', 'alice']],
    ['', []],
  ];
  for (const [text, expected] of rows) {
    it(`finds ${JSON.stringify(expected)} in ${JSON.stringify(text)}`, () => {
      assert.deepEqual(findAddressedNames(text), expected);
    });
  }
});
