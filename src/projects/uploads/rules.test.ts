import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDisposition, parseRange } from '../../platform/http/range.ts';
import { uploadPath } from './web_path.ts';
import { cleanName, getImageType } from './rules.ts';

test('a name is never a path and has no invisible characters', () => {
  const cases: Record<string, string> = {
    'a.png': 'a.png',
    '../../etc/passwd': 'passwd',
    'C:\\temp\\report.PDF': 'report.PDF',
    'my file (1).png': 'my_file__1_.png',
    'a\r\nb\u0000.txt': 'a__b_.txt',
    'ro\u202egnp.exe': 'ro_gnp.exe',
    'blåbær.txt': 'blåbær.txt',
    'x](javascript:alert(1)).png': 'x__javascript_alert_1__.png',
    '': '_',
    '.': '_.',
    '..': '_..',
    '.bashrc': '.bashrc',
    'a/': '_',
  };
  for (const [sent, name] of Object.entries(cases)) assert.equal(cleanName(sent), name, sent);
});

test('truncates a long name before its extension, between characters', () => {
  const name = cleanName(`${'é'.repeat(300)}.png`);
  assert.ok(Buffer.byteLength(name) <= 255 && name.endsWith('é.png'));
  assert.equal(cleanName('x'.repeat(300)).length, 255);
  // No 4-byte character is cut in two.
  for (const start of ['', 'x', 'xx', 'xxx']) {
    const cut = cleanName(`${start}${'𝒳'.repeat(100)}`);
    assert.ok(Buffer.byteLength(cut) > 255 - 4 && cut.isWellFormed() && !cut.includes('\ufffd'), cut);
  }
});

test('shows only harmless types of pictures', () => {
  for (const name of ['a.png', 'a.JPG', 'a.jpeg', 'a.gif', 'a.webp', 'a.svg'])
    assert.ok(getImageType(name, 1));
  for (const name of ['a.svgz', 'a.html', 'png', 'a.png.html', 'a.', 'a.constructor', 'a.avif']) {
    assert.equal(getImageType(name, 1), null, name);
  }
  assert.equal(getImageType('a.svg', 1024 * 1024 + 1), null);
  assert.ok(getImageType('a.png', 1024 * 1024 + 1));
});

test('rewrites only upload paths of projects', () => {
  const file = `${'0123456789abcdef'.repeat(2)}/a.png`;
  assert.equal(uploadPath(`/a/b/uploads/${file}`), `/-/project/a%2Fb/uploads/${file}`);
  assert.equal(uploadPath(`/a/b/c/uploads/${file}`), `/-/project/a%2Fb%2Fc/uploads/${file}`);
  const others = [
    `/uploads/${file}`,
    `/a/uploads/${file}`,
    `/a/b/uploads/${file}/more`,
    '/a/b/uploads/0123/a.png',
    `/api/v4/projects/1/uploads/${file}`,
    `/-/project/1/uploads/${file}`,
  ];
  for (const path of others) assert.equal(uploadPath(path), path);
});

test('parses a single byte range', () => {
  const cases: [string | undefined, ReturnType<typeof parseRange>][] = [
    [undefined, null],
    ['bytes=0-', { start: 0, end: 9 }],
    ['bytes=2-3', { start: 2, end: 3 }],
    ['bytes=5-100', { start: 5, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-100', { start: 0, end: 9 }],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=3-2', null],
    ['bytes=0-1,3-4', null],
    ['bytes=-', null],
    ['lines=1-2', null],
  ];
  for (const [header, range] of cases) assert.deepEqual(parseRange(header, 10), range, String(header));
  assert.equal(parseRange('bytes=0-', 0), 'unsatisfiable');
});

test('encodes any name for a header', () => {
  assert.equal(formatDisposition('inline', 'a.png'), `inline; filename="a.png"; filename*=UTF-8''a.png`);
  assert.equal(
    formatDisposition('attachment', 'a"\\☃\r.txt'),
    `attachment; filename="a____.txt"; filename*=UTF-8''a%22%5C%E2%98%83%0D.txt`,
  );
});
