import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatDuration, parseDuration } from './duration.ts';

const maxSeconds = 2 ** 31 - 1;

describe('parseDuration', () => {
  const rows: [string, number, string][] = [
    ['3h30m', 12600, '3h 30m'],
    ['3h 30m', 12600, '3h 30m'],
    ['1h, 150m', 12600, '3h 30m'],
    ['1w', 144000, '1w'],
    ['40h', 144000, '1w'],
    ['5d', 144000, '1w'],
    ['3w1h', 435600, '3w 1h'],
    ['4w', 576000, '1mo'],
    ['20d', 576000, '1mo'],
    ['1mo', 576000, '1mo'],
    ['2', 7200, '2h'],
    ['1h 30', 111600, '3d 7h'],
    ['1mo 2w 3d 4h 5m 6s', 965106, '1mo 2w 3d 4h 5m 6s'],
    ['1.5h', 5400, '1h 30m'],
    ['0.5d', 14400, '4h'],
    ['8h', 28800, '1d'],
    ['90s', 90, '1m 30s'],
    ['1:30', 90, '1m 30s'],
    ['3:41:59', 13319, '3h 41m 59s'],
    ['5 4h', 14400, '4h'],
    ['h', 3600, '1h'],
    ['1M', 60, '1m'],
    ['13mo', 7488000, '13mo'],
    ['52w', 7488000, '13mo'],
    ['1y', 6912000, '12mo'],
  ];
  for (const [text, seconds, printed] of rows) {
    it(`reads ${text} and prints ${printed}`, () => {
      assert.equal(parseDuration(text), seconds);
      assert.equal(formatDuration(seconds), printed);
    });
  }

  it('reads a leading minus, and only the very first character', () => {
    assert.equal(parseDuration('-1h'), -3600);
    assert.equal(parseDuration('- 1h 30m'), -5400);
    assert.equal(parseDuration('-1:30'), -90);
    for (const text of ['--1h', ' -1h', '1h -30m', '-', '-0']) assert.equal(parseDuration(text), null, text);
  });

  const refused = ['foo', '1h foo', '1,5h', '3h-30m', '', ' ', '0', '0h', '0:00', '0.1s'];
  const odd = [
    '1h,,30m',
    ',1h',
    '1h , 30m',
    '5.',
    '.',
    'two hours',
    '1:',
    ':1',
    '1:x',
    '1:30h',
    '1e3s',
    '１h',
    '1ｈ',
  ];
  for (const text of [...refused, ...odd]) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.equal(parseDuration(text), null));
  }

  it('reads every spelling of the units, whatever the case', () => {
    const sizes: [number, string][] = [
      [1, 's sec secs second seconds'],
      [60, 'm min mins minute minutes'],
      [3600, 'h hr hrs hour hours'],
      [28800, 'd dy day days'],
      [144000, 'w wk wks week weeks'],
      [576000, 'mo mos month months'],
      [6912000, 'y yr yrs year years'],
    ];
    for (const [size, words] of sizes) {
      for (const word of words.split(' ')) {
        assert.equal(parseDuration(`2${word}`), 2 * size, word);
        assert.equal(parseDuration(` 2 ${word.toUpperCase()} `), 2 * size, word);
      }
    }
  });

  it('passes over joining words and the comma after a word', () => {
    assert.equal(parseDuration('1 day, 2 hours and 3 minutes'), 28800 + 7200 + 180);
    assert.equal(parseDuration('1h plus 1m with, 1s'), 3661);
    assert.equal(parseDuration('2 and h'), 7200);
    assert.equal(parseDuration('\t1h\r\n30m'), 5400);
  });

  it('counts a unit without a number once at the start and not later', () => {
    assert.equal(parseDuration('day 30m'), 28800 + 1800);
    assert.equal(parseDuration('1h m'), 3600);
  });

  it('reads decimals without losing a second', () => {
    assert.equal(parseDuration('0.29h'), 1044);
    assert.equal(parseDuration('.5h'), 1800);
    assert.equal(parseDuration('1.5s'), 1);
  });

  it('reads the clock form with blanks and with days', () => {
    assert.equal(parseDuration(' 1 : 30 '), 90);
    assert.equal(parseDuration('1:00:00:00'), 28800);
    assert.equal(parseDuration('1:1:1:1:1:1'), 6912000 + 576000 + 28800 + 3661);
    assert.equal(parseDuration('1:1:1:1:1:1:1'), null);
  });

  it('accepts the longest duration and refuses a longer one', () => {
    assert.equal(parseDuration(`${maxSeconds}s`), maxSeconds);
    assert.equal(parseDuration(`-${maxSeconds}s`), -maxSeconds);
    assert.equal(parseDuration(`${maxSeconds + 1}s`), null);
    assert.equal(parseDuration('99999999999999999mo'), null);
    assert.equal(parseDuration(`${'0'.repeat(62)}1h`), 3600);
    assert.equal(parseDuration(`${'0'.repeat(63)}1h`), null);
  });

  it('gives whole seconds within the bounds or null, whatever the text', () => {
    const pieces = fc.constantFrom('1', '2.5', '.', ':', ',', ' ', '-', 'h', 'mo', 'and', 'x', '9999999999');
    const texts = fc.oneof(
      fc.string(),
      fc.array(pieces, { maxLength: 20 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const seconds = parseDuration(text);
        assert.ok(
          seconds === null || (Number.isInteger(seconds) && seconds !== 0 && Math.abs(seconds) <= maxSeconds),
        );
      }),
    );
  });

  it('refuses a duration with too much text', () => {
    const unit = fc.constantFrom('1h', ' ', '1', '1:', '.', 'and ', '1mo,', 'h', '-', '0'.repeat(50));
    fc.assert(
      fc.property(unit, fc.integer({ min: 1, max: 60_000 }), (piece, times) => {
        const text = piece.repeat(times);
        if (text.length > 64) assert.equal(parseDuration(text), null);
      }),
    );
  });
});

describe('formatDuration', () => {
  it('prints nothing for zero and a minus for less', () => {
    assert.equal(formatDuration(0), null);
    assert.equal(formatDuration(-5400), '-1h 30m');
  });

  it('prints what parseDuration reads back', () => {
    const seconds = fc.oneof(
      fc.integer({ min: -maxSeconds, max: maxSeconds }),
      fc.integer({ min: -100_000, max: 100_000 }),
    );
    fc.assert(
      fc.property(
        seconds.filter((value) => value !== 0),
        (value) => assert.equal(parseDuration(formatDuration(value) ?? ''), value),
      ),
    );
  });
});
