import assert from 'node:assert/strict';
import { type IncomingMessage, createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { Failure } from '../../errors.ts';
import { receiveFile } from './upload.ts';

const tooLarge = () => new Failure('too_large', { message: 'too large' });

const take = async ({ content }: { content: AsyncIterable<Buffer> }): Promise<number> => {
  let size = 0;
  for await (const chunk of content) size += chunk.length;
  return size;
};

const receive = async (incoming: IncomingMessage): Promise<number> =>
  await receiveFile(incoming, { field: 'file', limit: 1000, tooLarge, take });

type Sent = { head: string; body: string; leaves: boolean };

/** Sends a request and returns the result of receiving it; `leaves`: the client disconnects before the body is read. */
const received = async ({ head, body, leaves }: Sent): Promise<number | string> => {
  const { promise, resolve } = Promise.withResolvers<number | string>();
  const server = createServer((incoming) => {
    const go = (): void => void receive(incoming).then(resolve, (error: Error) => resolve(error.message));
    if (!leaves) return go();
    incoming.on('close', go);
    setTimeout(() => client.destroy(), 20);
    return undefined;
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  client.write(
    `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=x\r\n${head}\r\n\r\n`,
  );
  client.write(body);
  const outcome = await promise;
  client.destroy();
  server.close();
  return outcome;
};

const file = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nbytes\r\n--x--\r\n';

test('does not wait for a client that disconnected before the body was read', async () => {
  const broken = /invalid multipart body/;
  const half = { head: 'content-length: 5000', body: file, leaves: true };
  assert.match(String(await received(half)), broken);
  const whole = { head: `content-length: ${file.length}`, body: file, leaves: true };
  assert.match(String(await received(whole)), broken);
  assert.equal(await received({ ...whole, leaves: false }), 5);
});

test('handles a request that ends within an unexpected file', async () => {
  const body = '--x\r\ncontent-disposition: form-data; name="other"; filename="b"\r\n\r\nhalf';
  const sent = { head: `content-length: ${body.length}`, body, leaves: false };
  assert.match(String(await received(sent)), /invalid multipart body/);
});

test('stops reading a form with too many parts', async () => {
  const body = `${'--x\r\n'.repeat(21)}${file}`;
  const sent = { head: `content-length: ${body.length}`, body, leaves: false };
  assert.match(String(await received(sent)), /invalid multipart body/);
  const fewer = body.slice('--x\r\n'.length * 2);
  assert.equal(await received({ ...sent, head: `content-length: ${fewer.length}`, body: fewer }), 5);
});

test('limits the bytes around a file, also for a chunked request', async () => {
  const chunk = `10000\r\n${'y'.repeat(0x10000)}\r\n`;
  const other = 'content-disposition: form-data; name="other"; filename="b"\r\n\r\n';
  const body = `${(other.length + 5).toString(16)}\r\n--x\r\n${other}\r\n${chunk.repeat(20)}`;
  assert.equal(
    await received({ head: 'transfer-encoding: chunked', body, leaves: false }),
    tooLarge().message,
  );
});
