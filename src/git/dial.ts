/** Opens connections to a repository storage: both sides show that they know the secret before anything else. */
import { randomBytes } from 'node:crypto';
import { type Socket, connect } from 'node:net';
import {
  type Frame,
  isProof,
  limitsOfPeers,
  limitsOfStrangers,
  makeFrameReader,
  proofOf,
  writeFrame,
} from '../../gitd/rpc/frames.ts';
import { GitFailure, gone } from './failure.ts';

/** Where a storage listens: a Unix socket, or an address. */
export type Address = { path: string } | { host: string; port: number };

export type Place = {
  address: Address;
  secret: string;
  /** The id of ours, which the storage compares; null: only methods of the storage itself are answered. */
  instance: string | null;
};

export type Line = {
  socket: Socket;
  onFrame: (frame: Frame) => void;
  onData: (data: Buffer) => void;
};

/** Milliseconds until a connection stands. */
const patience = 10_000;

/** @throws GitFailure `unavailable`, also for a peer that knows another secret */
export const dial = async ({ address, secret, instance }: Place): Promise<Line> => {
  const socket = connect({ ...address, noDelay: true });
  const line: Line = { socket, onFrame: () => undefined, onData: () => undefined };
  const { promise, resolve, reject } = Promise.withResolvers<Line>();
  const nonce = randomBytes(16).toString('hex');
  let proof: string | null = null;
  let known = false;
  const onFrame = (frame: Frame): void => {
    if (known) return line.onFrame(frame);
    const { header } = frame;
    if (proof === null && typeof header['nonce'] === 'string') {
      const nonces: [string, string] = [header['nonce'], nonce];
      proof = proofOf('server', secret, nonces);
      writeFrame(socket, { nonce, instance, proof: proofOf('client', secret, nonces) });
      return;
    }
    const refused = header['refused'] as string | undefined;
    if (proof === null || !isProof(header['proof'], proof))
      throw gone(`the repository storage refused the connection: ${refused ?? 'the secret is another one'}`);
    known = true;
    reader.allow(limitsOfPeers);
    socket.setTimeout(0);
    resolve(line);
  };
  const reader = makeFrameReader(limitsOfStrangers, onFrame, (data) => line.onData(data));
  const fail = (error: Error): void => {
    socket.destroy();
    reject(error instanceof GitFailure ? error : gone(`no repository storage answers: ${error.message}`));
  };
  socket.setTimeout(patience, () => fail(gone('the repository storage does not answer')));
  socket.on('error', fail);
  socket.on('close', () => reject(gone('the repository storage closed the connection')));
  socket.on('data', (chunk: Buffer) => {
    try {
      reader.push(chunk);
    } catch (error) {
      fail(error as Error);
    }
  });
  return await promise;
};
