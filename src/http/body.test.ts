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
