import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { type Socket, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StreamHandler } from '../handler_types.ts';
import { answerStream } from './answer_stream.ts';
import type { ServerParts } from './call_context.ts';
import { limitsOfPeers, makeFrameReader } from './frames.ts';
import type { Peer } from './handshake.ts';

/** More than the buffers of a local socket. */
const piece = Buffer.alloc(2 ** 20, 'x');

let folder: string;
before(async () => void (folder = await mkdtemp(join(tmpdir(), 'gantry-stream-'))));
after(async () => await rm(folder, { recursive: true }));

/** Answers one stream by the handler, and returns what a client receives that begins to read after its return. */
const readLate = async (name: string, handler: StreamHandler<'transport.advertise'>) => {
  const returned = Promise.withResolvers<void>();
  const streams = {
    'transport.advertise': async (...args: Parameters<typeof handler>) => {
      const result = await handler(...args);
      returned.resolve();
      return result;
    },
  };
  const storage = { root: folder, owner: { instance: 'ours' }, exec: {} };
  const parts = { storage, streams } as unknown as ServerParts;
  const first = { header: { stream: 'transport.advertise', params: {} }, body: Buffer.alloc(0) };
  const server = createServer((socket: Socket) => {
    const peer: Peer = { instance: 'ours', onFrame: () => undefined, onData: null };
    answerStream(parts, socket, peer, first);
  });
  const path = join(folder, name);
  await new Promise<void>((done) => server.listen(path, done));
  const client = connect(path);
  await returned.promise;
  await nextTurn();
  const frames: object[] = [];
  let bytes = 0;
  const reader = makeFrameReader(
    limitsOfPeers,
    ({ header }) => void frames.push(header),
    (data) => void (bytes += data.length),
  );
  reader.push(await buffer(client));
  server.close();
  return { frames, bytes };
};

const whole = { frames: [{ end: true }, { result: {} }], bytes: 3 * piece.length };

test('a client that reads late receives all bytes of an ended output before the result', async () => {
  const sent = await readLate('ended', async (_params, _context, { output }) => {
    for (let at = 0; at < 3; at += 1) output.write(piece);
    output.end();
    return {};
  });
  assert.deepEqual(sent, whole);
});

test('the result also follows the bytes of an output that its handler leaves open', async () => {
  const { frames, bytes } = await readLate('open', async (_params, _context, { output }) => {
    for (let at = 0; at < 3; at += 1) output.write(piece);
    return {};
  });
  assert.deepEqual([frames, bytes], [[{ result: {} }], whole.bytes]);
});
