import { it } from 'node:test';
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import {
  type Frame,
  FrameError,
  isProof,
  limitsOfPeers,
  limitsOfStrangers,
  makeFrameReader,
  computeProof,
  writeData,
  writeFrame,
} from './frames.ts';

/** Collects the bytes that `write` sends to the socket. */
const written = (write: (socket: Socket) => void): Buffer => {
  const chunks: Buffer[] = [];
  const socket = {
    write: (chunk: Uint8Array) => chunks.push(Buffer.from(chunk)) > 0,
    cork: () => undefined,
    uncork: () => undefined,
  };
  write(socket as unknown as Socket);
  return Buffer.concat(chunks);
};

const wire = written((socket) => {
  writeFrame(socket, { id: 1, text: 'ä' }, Buffer.from('body'));
  writeData(socket, Buffer.from('some data'));
  writeFrame(socket, { end: true });
});

const readAll = (chunks: Buffer[]): { frames: Frame[]; data: string } => {
  const frames: Frame[] = [];
  let data = '';
  const reader = makeFrameReader(
    limitsOfPeers,
    (frame) => void frames.push(frame),
    (piece) => void (data += piece.toString()),
  );
  for (const chunk of chunks) reader.push(chunk);
  return { frames, data };
};

const wanted = {
  frames: [
    { header: { id: 1, text: 'ä' }, body: Buffer.from('body') },
    { header: { end: true }, body: Buffer.alloc(0) },
  ],
  data: 'some data',
};

it('reads frames however the socket splits them', () => {
  for (let cut = 0; cut <= wire.length; cut += 1)
    assert.deepEqual(readAll([wire.subarray(0, cut), wire.subarray(cut)]), wanted);
  assert.deepEqual(readAll([...wire].map((byte) => Buffer.from([byte]))), wanted);
});

it('refuses too large frames before their content arrives', () => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(limitsOfStrangers.header + 1, 0);
  const reader = makeFrameReader(limitsOfStrangers, () => assert.fail('a frame'));
  assert.throws(() => reader.push(head), FrameError);
});

it('refuses headers that are not JSON objects, and data outside a stream', () => {
  const text = Buffer.from('[1]');
  const head = Buffer.alloc(8);
  head.writeUInt32BE(text.length, 0);
  const reader = makeFrameReader(limitsOfPeers, () => assert.fail('a frame'));
  assert.throws(() => reader.push(Buffer.concat([head, text])), FrameError);
  const data = written((socket) => writeData(socket, Buffer.from('x')));
  assert.throws(() => makeFrameReader(limitsOfPeers, () => undefined).push(data), FrameError);
});

it('creates a proof that is valid for one connection and one side only', () => {
  const proof = computeProof('client', 'secret', ['a', 'b']);
  assert.equal(isProof(proof, computeProof('client', 'secret', ['a', 'b'])), true);
  assert.equal(isProof(proof, computeProof('client', 'other', ['a', 'b'])), false);
  assert.equal(isProof(proof, computeProof('client', 'secret', ['c', 'b'])), false);
  assert.equal(isProof(proof, computeProof('server', 'secret', ['a', 'b'])), false);
  assert.equal(isProof(undefined, proof), false);
});
