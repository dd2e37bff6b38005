/** Tests pages that are rendered while they are sent: a failure in the middle, and a client that goes away. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { after, test } from 'node:test';
import fastify from 'fastify';
import { html, streamed } from '../parts/html.ts';
import { pageStream } from './page_stream.ts';

const app = fastify();
after(async () => await app.close());

let stopped = 0;
app.get('/fails', (_request, reply) =>
  reply.type('text/html').send(
    pageStream(
      html`<main>${streamed(async function* () {
        yield html`<p>first</p>`;
        throw new Error('no more');
      })}</main>`,
    ),
  ),
);
app.get('/endless', (_request, reply) =>
  reply.type('text/html').send(
    pageStream(
      html`<main>${streamed(async function* () {
        try {
          for (;;) yield html`<p>${'more '.repeat(10_000)}</p>`;
        } finally {
          stopped += 1;
        }
      })}</main>`,
    ),
  ),
);
const listening = app.listen({ port: 0, host: '127.0.0.1' });
const getPort = async (): Promise<number> => {
  await listening;
  return (app.server.address() as AddressInfo).port;
};

test('a failure in the middle breaks the connection and tells the reader', async () => {
  const response = await fetch(`http://127.0.0.1:${await getPort()}/fails`);
  assert.equal(response.status, 200);
  let text = '';
  await assert.rejects(async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
  });
  assert.match(text, /^<main><p>first<\/p>.*role="alert">The rest of this page could not be shown/);
  assert.ok(!text.includes('</main>'));
});

test('a client that goes away stops the work', async () => {
  const socket = connect(await getPort(), '127.0.0.1');
  socket.write('GET /endless HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(socket, 'data');
  socket.destroy();
  while (stopped === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(stopped, 1);
});
