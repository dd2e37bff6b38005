import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as later } from 'node:timers/promises';
import { Failure } from '../../errors.ts';
import { parseBody, parsePageForm } from './parse_body.ts';
import { getFileParts } from './file_parts.ts';

const refusal = { body: { message: '400 (Bad request) invalid multipart body' } };

const multipart = async (text: string) =>
  await parseBody('POST', 'multipart/form-data; boundary=x', Buffer.from(text));

const value = '--x\r\ncontent-disposition: form-data; name="title"\r\n\r\nhello\r\n';
const file = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nbytes\r\n';

test('reads values of a form, and only the names of files', async () => {
  const sent = await multipart(`${value}${file}--x--\r\n`);
  const skipped = [{ field: 'file', name: 'a', content: null }];
  assert.deepEqual([Object.entries(sent), getFileParts(sent)], [[['title', 'hello']], skipped]);
});

test('keeps the files of the form of a page', async () => {
  const big = file.replace('bytes', 'b'.repeat(100_000)).replace('name="file"', 'name="other"');
  const body = Buffer.from(`${value}${file}${big}--x--\r\n`);
  const sent = await parsePageForm('multipart/form-data; boundary=x', body);
  const files = getFileParts(sent).map(({ field, content }) => [field, content?.length]);
  assert.deepEqual(
    [sent['title'], files],
    [
      'hello',
      [
        ['file', 5],
        ['other', 100_000],
      ],
    ],
  );
});

test('ends the lines of texts in LF, and keeps the bytes of files', async () => {
  const nested = { a: 'x\r\ny\rz\r\n', list: ['\r\n', { deep: '\ud800\r\r\n' }], count: 1 };
  const expected = { a: 'x\ny\rz\n', list: ['\n', { deep: '\ud800\r\n' }], count: 1 };
  assert.deepEqual(
    { ...(await parsePageForm('application/json', Buffer.from(JSON.stringify(nested)))) },
    expected,
  );
  const urlencoded = Buffer.from('a=x%0D%0Ay&b[c][]=%0d%0a');
  const sent = await parsePageForm('application/x-www-form-urlencoded', urlencoded);
  assert.deepEqual(JSON.parse(JSON.stringify(sent)), { a: 'x\ny', b: { c: ['\n'] } });
  const body = Buffer.from(`${value.replace('hello', 'a\r\nb')}${file.replace('bytes', 'a\r\nb')}--x--\r\n`);
  const form = await parsePageForm('multipart/form-data; boundary=x', body);
  assert.deepEqual([form['title'], getFileParts(form)[0]?.content?.toString()], ['a\nb', 'a\r\nb']);
});

test('skips a part that is not a value, of any length', async () => {
  const nameless = `--x\r\nx: y\r\n\r\n${'y'.repeat(100_000)}\r\n`;
  assert.deepEqual({ ...(await multipart(`${nameless}${value}--x--\r\n`)) }, { title: 'hello' });
});

test('refuses an incomplete form, even one that ends within a file', async () => {
  for (const text of [value, `${value}${file}`, `${value}${file.slice(0, -5)}`, file.slice(0, 30), '--x']) {
    await assert.rejects(multipart(text), (error) => {
      assert.ok(error instanceof Failure);
      assert.deepEqual(error.body, { message: '400 (Bad request) invalid multipart body' });
      return true;
    });
    await later();
  }
});

test('refuses a form of more than 1,000 parts, including empty ones', async () => {
  const many = value.repeat(1000);
  assert.equal(((await multipart(`${many}--x--\r\n`))['title'] as string[]).length, 1000);
  for (const excess of [value.repeat(1001), '--x\r\n'.repeat(1001), '--x\r\n\r\n'.repeat(100_000)])
    await assert.rejects(multipart(`${excess}--x--\r\n`), refusal);
});

const send = async (parameters: string, text: string) =>
  await parseBody('POST', `multipart/form-data${parameters}`, Buffer.from(text));

test('splits and counts the parts of a form by the same boundary', async () => {
  const withOther = value.replace('hello', '\r\n--z'.repeat(1001));
  for (const parameters of [
    ';boundary=x',
    '; charset=utf-8; Boundary="x"',
    '; foo-boundary=z; boundary=x;',
    '; a="b c"; boundary=x; a-boundary=z',
  ]) {
    const sent = await send(parameters, `${withOther}--x--\r\n`);
    assert.deepEqual({ ...sent }, { title: '\r\n--z'.repeat(1001) }, parameters);
  }
});

test('refuses a form unless its type has one boundary of ASCII', async () => {
  const form = (boundary: string): string => `${value.replace('--x', `--${boundary}`)}--${boundary}--\r\n`;
  assert.deepEqual({ ...(await send("; boundary=a_b'(1)+2", form("a_b'(1)+2"))) }, { title: 'hello' });
  for (const [parameters, boundary] of [
    ['', 'x'],
    ['; boundary=x; boundary=z', 'x'],
    ['; boundary=x; boundary=x', 'x'],
    ['; foo="; boundary=z"; boundary=x', 'x'],
    ['; boundary=""', ''],
    ["; boundary*=utf-8''x", 'x'],
    [`; boundary=${Buffer.from('ä').toString('latin1')}`, 'ä'],
    ['; boundary=x y', 'x y'],
    ['; boundary="x', '"x'],
    ['; boundary="x"y', 'xy'],
  ] as const)
    await assert.rejects(send(parameters, form(boundary)), refusal, parameters);
});

test('refuses a long form with a boundary of few characters, which is slow to search for', async () => {
  const form = (boundary: string, length: number): string => {
    const delimiter = `--${boundary}`;
    return `${value.replace('--x', delimiter).replace('hello', '\r'.repeat(length))}${delimiter}--\r\n`;
  };
  for (const [boundary, length] of [
    ['x', 200_000],
    ['four', 200_000],
    ['fives', 2_000_000],
  ] as const)
    assert.equal(
      (await send(`; boundary=${boundary}`, form(boundary, length)))['title'],
      '\r'.repeat(length),
    );
  for (const boundary of ['x', 'four'])
    await assert.rejects(send(`; boundary=${boundary}`, form(boundary, 2_000_000)), refusal);
});

test('keeps the bytes of multipart values and nests their names', async () => {
  const part = (name: string, text: string): string =>
    `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
  const parts = [
    part('a[]', '1+1 %41&b=[c]'),
    part('a[]', 'é'),
    part('h[][k]', 'x'),
    part('h[][k]', ''),
    part('p+q', 'r'),
  ];
  assert.deepEqual(JSON.parse(JSON.stringify(await multipart(`${parts.join('')}--x--\r\n`))), {
    a: ['1+1 %41&b=[c]', 'é'],
    h: [{ k: 'x' }, { k: '' }],
    'p+q': 'r',
  });
});

const json = async (text: string) => await parseBody('POST', 'application/json', Buffer.from(text));

test('refuses JSON with too many values or names before parsing it', async () => {
  const list = (count: number): string => `{"a":[${Array.from({ length: count }, () => '1').join()}]}`;
  assert.equal(((await json(list(49_990)))['a'] as number[]).length, 49_990);
  const names = (count: number): string =>
    `{"a":{${Array.from({ length: count }, (_one, at) => `"${at}":0`).join()}}}`;
  assert.equal(Object.keys((await json(names(9_999)))['a'] as object).length, 9_999);
  const refusal = { body: { message: '400 (Bad request) invalid JSON body' } };
  for (const text of [list(60_000), names(10_001)]) await assert.rejects(json(text), refusal);
});

test('ignores punctuation inside JSON strings when counting', async () => {
  const text = String.raw`\\\",[{:`.repeat(60_000);
  assert.deepEqual(await json(`{"a":"${text}","b":["\\\\"]}`), {
    a: JSON.parse(`"${text}"`) as string,
    b: ['\\'],
  });
});

test('decodes a plus and %20 as a space in a form', async () => {
  const form = async (text: string) =>
    await parseBody('POST', 'application/x-www-form-urlencoded', Buffer.from(text));
  assert.deepEqual({ ...(await form('a+b=c+d&e=%2B&f[]=é+é')) }, { 'a b': 'c d', e: '+', f: ['é é'] });
});

test('starts the next hash of a list at a repeated name', async () => {
  const read = async (form: string) =>
    JSON.parse(
      JSON.stringify(await parseBody('POST', 'application/x-www-form-urlencoded', Buffer.from(form))),
    ) as unknown;
  const list = {
    actions: [{ action: 'create', path: 'a' }, { action: 'delete' }, { action: 'x', path: 'b' }],
  };
  const pairs = ['action=create', 'path=a', 'action=delete', 'action=x', 'path=b'];
  const named = pairs.map((pair) => pair.replace(/^(\w+)/, '[$1]'));
  assert.deepEqual(await read(named.map((pair) => `actions[]${pair}`).join('&')), list);
  const encoded = named.map((pair) => `actions[]${pair}`.replaceAll('[', '%5B').replaceAll(']', '%5D'));
  assert.deepEqual(await read(encoded.join('&')), list);
  assert.deepEqual(await read('a[][b][]=1&a[][b][]=2&c=3'), { a: [{ b: ['1', '2'] }], c: '3' });
});
