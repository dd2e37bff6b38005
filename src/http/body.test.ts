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
