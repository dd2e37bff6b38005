/** Opens a connection: both sides prove that they know the secret. */
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
  computeProof,
  writeFrame,
} from './frames.ts';

/** Milliseconds for the handshake. */
const handshakeTimeout = 10_000;

export type Peer = {
  /** Instance that the peer belongs to. */
  instance: unknown;
  /** Set by the owner of the connection after the handshake. */
  onFrame: (frame: Frame) => void;
  onData: ((data: Buffer) => void) | null;
};

/**
 * Performs the handshake and returns the peer.
 * @param onPeer called in the same tick as the proof is verified, so that it sees frames that arrived with it
 */
export const performHandshake = (socket: Socket, secret: string, onPeer: (peer: Peer) => void): void => {
  const nonce = randomBytes(16).toString('hex');
  const peer: Peer = { instance: null, onFrame: () => undefined, onData: null };
  let isAuthenticated = false;
  const timer = setTimeout(() => socket.destroy(), handshakeTimeout);
  const onFrame = (frame: Frame): void => {
    if (isAuthenticated) return peer.onFrame(frame);
    const { nonce: theirs, proof, instance } = frame.header;
    const nonces: [string, string] = [nonce, String(theirs)];
    if (!isProof(proof, computeProof('client', secret, nonces))) {
      writeFrame(socket, { refused: 'the secret is another one' });
      socket.end();
      throw new FrameError('a peer does not know the secret');
    }
    isAuthenticated = true;
    peer.instance = instance;
    clearTimeout(timer);
    reader.allow(limitsOfPeers);
    writeFrame(socket, { proof: computeProof('server', secret, nonces) });
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
      if (isAuthenticated) socket.destroy();
      else socket.removeAllListeners('data').resume();
    }
  });
  socket.on('close', () => clearTimeout(timer));
};
