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
  proofOf,
  writeData,
  writeFrame,
} from './frames.ts';

/** What would go over the wire. */
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

it('reads what was written, wherever the socket cuts it', () => {
  for (let cut = 0; cut <= wire.length; cut += 1)
    assert.deepEqual(readAll([wire.subarray(0, cut), wire.subarray(cut)]), wanted);
  assert.deepEqual(readAll([...wire].map((byte) => Buffer.from([byte]))), wanted);
});

it('refuses frames that are too large, before they have come', () => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(limitsOfStrangers.header + 1, 0);
  const reader = makeFrameReader(limitsOfStrangers, () => assert.fail('a frame'));
  assert.throws(() => reader.push(head), FrameError);
});

it('refuses headers that are no JSON object, and data outside of a stream', () => {
  const text = Buffer.from('[1]');
  const head = Buffer.alloc(8);
  head.writeUInt32BE(text.length, 0);
  const reader = makeFrameReader(limitsOfPeers, () => assert.fail('a frame'));
  assert.throws(() => reader.push(Buffer.concat([head, text])), FrameError);
  const data = written((socket) => writeData(socket, Buffer.from('x')));
  assert.throws(() => makeFrameReader(limitsOfPeers, () => undefined).push(data), FrameError);
});

it('proves the knowledge of a secret for one connection and one side only', () => {
  const proof = proofOf('client', 'secret', ['a', 'b']);
  assert.equal(isProof(proof, proofOf('client', 'secret', ['a', 'b'])), true);
  assert.equal(isProof(proof, proofOf('client', 'other', ['a', 'b'])), false);
  assert.equal(isProof(proof, proofOf('client', 'secret', ['c', 'b'])), false);
  assert.equal(isProof(proof, proofOf('server', 'secret', ['a', 'b'])), false);
  assert.equal(isProof(undefined, proof), false);
});
