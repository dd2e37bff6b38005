import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as later } from 'node:timers/promises';
import { Failure } from '../errors.ts';
import { parseBody } from './body.ts';

const multipart = async (text: string) =>
  await parseBody('POST', 'multipart/form-data; boundary=x', Buffer.from(text));

const value = '--x\r\ncontent-disposition: form-data; name="title"\r\n\r\nhello\r\n';
const file = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nbytes\r\n';

test('of a form, the values are read and the files are left', async () => {
  assert.deepEqual({ ...(await multipart(`${value}${file}--x--\r\n`)) }, { title: 'hello' });
});

test('a part that is no value is skipped, however long it is', async () => {
  const nameless = `--x\r\nx: y\r\n\r\n${'y'.repeat(100_000)}\r\n`;
  assert.deepEqual({ ...(await multipart(`${nameless}${value}--x--\r\n`)) }, { title: 'hello' });
});

test('a form that breaks off, even within a file, is refused and does no harm', async () => {
  for (const text of [value, `${value}${file}`, `${value}${file.slice(0, -5)}`, file.slice(0, 30), '--x']) {
    await assert.rejects(multipart(text), (error) => {
      assert.ok(error instanceof Failure);
      assert.deepEqual(error.body, { message: '400 (Bad request) invalid multipart body' });
      return true;
    });
    await later();
  }
});

test('a form of more than 1,000 parts is refused, empty ones counted', async () => {
  const many = value.repeat(1000);
  assert.equal(((await multipart(`${many}--x--\r\n`))['title'] as string[]).length, 1000);
  const refusal = { body: { message: '400 (Bad request) invalid multipart body' } };
  for (const excess of [value.repeat(1001), '--x\r\n'.repeat(1001), '--x\r\n\r\n'.repeat(100_000)])
    await assert.rejects(multipart(`${excess}--x--\r\n`), refusal);
});

test('values of a multipart form are taken byte by byte, names are nested', async () => {
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

test('JSON of too many values or names is refused before it is parsed', async () => {
  const list = (count: number): string => `{"a":[${Array.from({ length: count }, () => '1').join()}]}`;
  assert.equal(((await json(list(49_990)))['a'] as number[]).length, 49_990);
  const names = (count: number): string =>
    `{"a":{${Array.from({ length: count }, (_one, at) => `"${at}":0`).join()}}}`;
  assert.equal(Object.keys((await json(names(9_999)))['a'] as object).length, 9_999);
  const refusal = { body: { message: '400 (Bad request) invalid JSON body' } };
  for (const text of [list(60_000), names(10_001)]) await assert.rejects(json(text), refusal);
});

test('what stands in a text of JSON counts for nothing', async () => {
  const text = String.raw`\\\",[{:`.repeat(60_000);
  assert.deepEqual(await json(`{"a":"${text}","b":["\\\\"]}`), {
    a: JSON.parse(`"${text}"`) as string,
    b: ['\\'],
  });
});

test('a plus is a space in a form, as a percent sign before 20 is', async () => {
  const form = async (text: string) =>
    await parseBody('POST', 'application/x-www-form-urlencoded', Buffer.from(text));
  assert.deepEqual({ ...(await form('a+b=c+d&e=%2B&f[]=é+é')) }, { 'a b': 'c d', e: '+', f: ['é é'] });
});

test('a list of hashes in a form begins the next one where a name comes again', async () => {
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
