import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  formatTime,
  getNextUpdateTime,
  parseDate,
  parseDay,
  parseHttpDate,
  parseTime,
  systemClock,
} from './time.ts';

const tenOClock = Date.UTC(2017, 0, 5, 10);
const earliest = Date.UTC(1900, 0, 1);
const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const anyTime = fc.integer({ min: earliest, max: latest });

const read = (text: string): string | null => {
  const ms = parseTime(text);
  return ms === null ? null : formatTime(ms);
};

describe('getNextUpdateTime', () => {
  it('is the current time, and rises even if the clock goes back', () => {
    assert.equal(getNextUpdateTime({ updated_at: 5 }, 9), 9);
    assert.equal(getNextUpdateTime({ updated_at: 9 }, 9), 10);
    assert.equal(getNextUpdateTime({ updated_at: 9 }, 5), 10);
  });
});

describe('formatTime', () => {
  it('writes UTC with milliseconds', () => {
    assert.equal(formatTime(tenOClock + 123), '2017-01-05T10:00:00.123Z');
  });

  it('is parsed back by parseTime for any time', () => {
    fc.assert(fc.property(anyTime, (ms) => assert.equal(parseTime(formatTime(ms)), ms)));
  });

  it('writes four-digit years, also past the last accepted time', () => {
    const last = '9999-12-31T23:59:59.999Z';
    assert.equal(formatTime((parseTime(last) ?? 0) + 1), last);
  });
});

describe('systemClock', () => {
  it("returns the machine's time", () => {
    const before = Date.now();
    const now = systemClock.now();
    assert.ok(now >= before && now <= Date.now());
  });
});

describe('parseTime', () => {
  const accepted: [string, string][] = [
    ['2017-01-05', '2017-01-05T00:00:00.000Z'],
    ['2017-01-05T10:00', '2017-01-05T10:00:00.000Z'],
    ['2017-01-05T10:00:00', '2017-01-05T10:00:00.000Z'],
    ['2017-01-05 10:00:00', '2017-01-05T10:00:00.000Z'],
    [' 2017-01-05t10:00:00.5z ', '2017-01-05T10:00:00.500Z'],
    ['2017-01-05T10:00:00.123999Z', '2017-01-05T10:00:00.123Z'],
    ['2017-01-05T10:00:00,25Z', '2017-01-05T10:00:00.250Z'],
    ['2017-01-05T10:00:00+01:00', '2017-01-05T09:00:00.000Z'],
    ['2017-01-05T10:00:00+0130', '2017-01-05T08:30:00.000Z'],
    ['2017-01-05T10:00:00-08', '2017-01-05T18:00:00.000Z'],
    ['2017-01-05T10:00:00 01:00', '2017-01-05T09:00:00.000Z'],
    ['2017-01-05T10:00:00.000 01:00', '2017-01-05T09:00:00.000Z'],
    ['2017-01-05 10:00:00 +0100', '2017-01-05T09:00:00.000Z'],
    ['2017-01-05 10:00:00 -0100', '2017-01-05T11:00:00.000Z'],
    ['2017-01-05 10:00:00 UTC', '2017-01-05T10:00:00.000Z'],
    ['20170105', '2017-01-05T00:00:00.000Z'],
    ['20170105T1000', '2017-01-05T10:00:00.000Z'],
    ['20170105T100000Z', '2017-01-05T10:00:00.000Z'],
    ['20170105t100000.25z', '2017-01-05T10:00:00.250Z'],
    ['20170105T100000+0100', '2017-01-05T09:00:00.000Z'],
    ['5 Jan 2017', '2017-01-05T00:00:00.000Z'],
    ['Thu, 05 Jan 2017', '2017-01-05T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29', '2000-02-29T00:00:00.000Z'],
    ['1900-01-01', '1900-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['Thu, 05 Jan 2017 10:00:00 +0100', '2017-01-05T09:00:00.000Z'],
    ['Thu, 05 Jan 2017 10:00:00  0100', '2017-01-05T09:00:00.000Z'],
    ['5 Jan 2017 10:00', '2017-01-05T10:00:00.000Z'],
    ['5 Jan 2017 10:00 EST', '2017-01-05T15:00:00.000Z'],
    ['Sun, 06 Nov 1994 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
    ['Sunday, 06-Nov-94 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
    ['Sun Nov  6 08:49:37 1994', '1994-11-06T08:49:37.000Z'],
    ['Wed Nov 16 08:49:37 1994', '1994-11-16T08:49:37.000Z'],
    ['Fri, 01 Jan 49 00:00:00 GMT', '2049-01-01T00:00:00.000Z'],
    ['Sun, 01 Jan 50 00:00:00 GMT', '1950-01-01T00:00:00.000Z'],
    ['2017-01-05T10:00:00-23:59', '2017-01-06T09:59:00.000Z'],
    [`${' '.repeat(44)}2017-01-05T10:00:00Z`, '2017-01-05T10:00:00.000Z'],
  ];
  for (const [text, expected] of accepted) {
    it(`reads ${text}`, () => assert.equal(read(text), expected));
  }

  it('parses the zone names of RFC 2822', () => {
    const zones: [string, number][] = [
      ['Z', 10],
      ['UT', 10],
      ['UTC', 10],
      ['GMT', 10],
      ['EDT', 14],
      ['EST', 15],
      ['CDT', 15],
      ['CST', 16],
      ['MDT', 16],
      ['MST', 17],
      ['PDT', 17],
      ['PST', 18],
    ];
    for (const [zone, hour] of zones) {
      assert.equal(read(`5 Jan 2017 10:00:00 ${zone}`), `2017-01-05T${hour}:00:00.000Z`);
    }
  });

  const refused = [
    '',
    ' ',
    'yesterday',
    '0000-01-01',
    '0099-01-01',
    '1899-12-31',
    '1900-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '9999-12-31T23:59:00-00:01',
    `${' '.repeat(45)}2017-01-05T10:00:00Z`,
    '+275760-09-13',
    '10000-01-01',
    '2024-02-30',
    '2023-02-29',
    '2100-02-29',
    '2024-04-31',
    '2024-13-01',
    '2024-00-01',
    '2024-01-00',
    '2024-1-1',
    '2024-01-01T24:00:00',
    '2024-01-01T1:00:00',
    '2024-01-01T10:60:00',
    '2024-01-01T10:00:60',
    '2024-01-01T10:00:00+24:00',
    '2024-01-01T10:00:00+01:60',
    '2024-01-01T10:00:00+1',
    '2024-01-01T10:00:00 nowhere',
    '2024-01-01T10:00:00Zx',
    '2024-01-01Z',
    '1483610400',
    '20171305',
    '20170230T100000Z',
    '20170105T10',
    '20170105T10:00:00Z',
    '20170105Z',
    '5 Jan 2017 GMT',
    '32 Jan 2017 10:00:00 GMT',
    '05 Foo 2017 10:00:00 GMT',
    '05 Jan 17 25:00:00 GMT',
    `2024-01-01T10:00:00.${'1'.repeat(60)}Z`,
  ];
  for (const text of refused) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.equal(parseTime(text), null));
  }

  it('never gives a time outside the years 1900 to 9999, nor a broken number', () => {
    const shaped = fc.stringMatching(/^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d)?([+ -]\d\d:\d\d)?$/);
    fc.assert(
      fc.property(fc.oneof(shaped, fc.string()), (text) => {
        const ms = parseTime(text);
        assert.ok(ms === null || (Number.isInteger(ms) && ms >= earliest && ms <= latest));
      }),
    );
  });

  it("agrees with the engine's Date on every time with an offset", () => {
    const minutes = fc.integer({ min: -14 * 60, max: 14 * 60 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), minutes, (ms, offset) => {
        const local = formatTime(ms + offset * 60_000).slice(0, -1);
        const size = Math.abs(offset);
        const pad = (part: number) => String(Math.floor(part)).padStart(2, '0');
        const text = `${local}${offset < 0 ? '-' : '+'}${pad(size / 60)}:${pad(size % 60)}`;
        assert.equal(parseTime(text), Date.parse(text));
        assert.equal(parseTime(text.replace('+', ' ')), ms);
      }),
    );
  });

  it('refuses hostile times in little time', () => {
    for (const text of [
      ' '.repeat(1e6),
      '2'.repeat(1e6),
      '1'.repeat(64),
      `2024-01-01T10:00${' '.repeat(40)}x`,
    ]) {
      assert.equal(parseTime(text), null);
    }
  });
});

describe('parseDay', () => {
  it('accepts a day, and takes the day of a time as written', () => {
    const times = ['2017-01-05', '2017-01-05T10:00:00Z', '2017-01-05T23:59:59.123456789-11:00'];
    for (const text of [...times, '2017-01-05 10:00']) assert.equal(parseDay(text), '2017-01-05', text);
  });

  it('refuses everything else', () => {
    const texts = [
      '',
      '2017-02-30',
      '2017-02-30T10:00:00Z',
      '2017-01-05T25:00:00Z',
      '2017-01-05x',
      '20170105',
    ];
    for (const text of [...texts, '2017-01-05T', '2017-01-05Tnoon']) assert.equal(parseDay(text), null, text);
  });
});

describe('parseDate', () => {
  it('returns a calendar date unchanged', () => {
    for (const text of ['2017-01-05', '2024-02-29', '1900-01-01', '9999-12-31']) {
      assert.equal(parseDate(text), text);
    }
  });

  it('refuses everything else', () => {
    const texts = ['', '2024-02-30', '2023-02-29', '2024-13-01', '1899-12-31', '0000-01-01', '2017-1-5'];
    const more = [
      '2017-01-05T10:00:00Z',
      ' 2017-01-05',
      '20170105',
      '05-01-2017',
      '2017-01-05\n',
      '２０１７-01-05',
    ];
    for (const text of [...texts, ...more]) assert.equal(parseDate(text), null, text);
  });

  it('accepts exactly the days the calendar has', () => {
    for (const year of [2023, 2024]) {
      const lengths = [31, year === 2024 ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
      for (const [index, length] of lengths.entries()) {
        const month = `${year}-${String(index + 1).padStart(2, '0')}`;
        assert.equal(parseDate(`${month}-${length}`), `${month}-${length}`);
        assert.equal(parseDate(`${month}-${length + 1}`), null);
      }
    }
    fc.assert(fc.property(anyTime, (ms) => assert.notEqual(parseDate(formatTime(ms).slice(0, 10)), null)));
    const part = fc.integer({ min: 0, max: 99 });
    fc.assert(
      fc.property(fc.integer({ min: 1900, max: 9999 }), part, part, (year, month, day) => {
        const text = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
        const date = new Date(Date.UTC(year, month - 1, day));
        assert.equal(parseDate(text) === text, date.toISOString().startsWith(text));
      }),
    );
  });
});

describe('parseHttpDate', () => {
  const sixth = Date.UTC(1994, 10, 6, 8, 49, 37);

  it('reads the three forms of HTTP and ISO 8601, to the second', () => {
    assert.equal(parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT'), sixth);
    assert.equal(parseHttpDate('Sunday, 06-Nov-94 08:49:37 GMT'), sixth);
    assert.equal(parseHttpDate('Sun Nov  6 08:49:37 1994'), sixth);
    assert.equal(parseHttpDate('1994-11-06T08:49:37.900Z'), sixth);
    assert.equal(parseHttpDate('1969-12-31T23:59:59.900Z'), -1000);
  });

  it('parses the HTTP dates that the engine formats', () => {
    fc.assert(
      fc.property(anyTime, (ms) => {
        assert.equal(parseHttpDate(new Date(ms).toUTCString()), Math.floor(ms / 1000) * 1000);
      }),
    );
  });

  it('returns null for unreadable text', () => {
    for (const text of ['', 'soon', 'Sun, 32 Nov 1994 08:49:37 GMT']) assert.equal(parseHttpDate(text), null);
  });
});
