/** The first words on a connection: both sides show that they know the secret. */
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import {
  type Frame,
  type FrameReader,
  FrameError,
  isProof,
  limitsOfPeers,
  limitsOfStrangers,
  makeFrameReader,
  proofOf,
  writeFrame,
} from './frames.ts';

/** Milliseconds that a stranger has. */
const patience = 10_000;

export type Peer = {
  /** The instance that it says it is of. */
  instance: unknown;
  /** Set by whoever takes the connection over. */
  onFrame: (frame: Frame) => void;
  onData: ((data: Buffer) => void) | null;
};

/**
 * Answers once the other side has shown that it knows the secret.
 * @param onPeer told right then, in the same turn: frames that came along go to what it sets up
 */
export const greet = (socket: Socket, secret: string, onPeer: (peer: Peer) => void): void => {
  const nonce = randomBytes(16).toString('hex');
  const peer: Peer = { instance: null, onFrame: () => undefined, onData: null };
  let known = false;
  const timer = setTimeout(() => socket.destroy(), patience);
  const onFrame = (frame: Frame): void => {
    if (known) return peer.onFrame(frame);
    const { nonce: theirs, proof, instance } = frame.header;
    const nonces: [string, string] = [nonce, String(theirs)];
    if (!isProof(proof, proofOf('client', secret, nonces))) {
      writeFrame(socket, { refused: 'the secret is another one' });
      socket.end();
      throw new FrameError('a peer does not know the secret');
    }
    known = true;
    peer.instance = instance;
    clearTimeout(timer);
    reader.allow(limitsOfPeers);
    writeFrame(socket, { proof: proofOf('server', secret, nonces) });
    onPeer(peer);
  };
  const onData = (data: Buffer): void => {
    if (peer.onData === null) throw new FrameError('data outside of a stream');
    peer.onData(data);
  };
  const reader: FrameReader = makeFrameReader(limitsOfStrangers, onFrame, onData);
  writeFrame(socket, { nonce });
  socket.on('data', (chunk: Buffer) => {
    try {
      reader.push(chunk);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      if (known) socket.destroy();
      else socket.removeAllListeners('data').resume();
    }
  });
  socket.on('close', () => clearTimeout(timer));
};
