/** Opens connections to a repository storage. Both sides first prove that they know the secret. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Socket, connect, isIP } from 'node:net';
import { connect as connectByTls } from 'node:tls';
import {
  type Frame,
  isProof,
  limitsOfPeers,
  limitsOfStrangers,
  makeFrameReader,
  computeProof,
  writeFrame,
} from '../../../gitd/rpc/frames.ts';
import { GitFailure, storageUnavailable } from './failure.ts';

/** Address of a remote storage. */
export type RemoteAddress = { host: string; port: number; isTls?: boolean };

/** Address of a storage: a Unix socket, or host and port. */
export type Address = { path: string } | RemoteAddress;

export type GitdAddress = {
  address: Address;
  secret: string;
  /** Path of the certificates that TLS trusts, as PEM; null: well-known authorities. */
  ca: string | null;
  /**
   * Our instance id, which must be the id of the storage's owner. Null allows only methods that concern the storage as a
   * whole.
   */
  instance: string | null;
  /** Called with the end of the validity of the peer's certificate, in milliseconds since 1970, at each connection. */
  onCertificate?: (ends: number) => void;
  /** Called when the storage announces that it stops. */
  onStopping?: () => void;
};

export type Line = {
  socket: Socket;
  onFrame: (frame: Frame) => void;
  onData: (data: Buffer) => void;
};

/** Timeout of connecting, in milliseconds. */
const dialTimeout = 10_000;

/** Reads the trusted certificates, at each connection, so that renewed certificates need no restart. */
const readTrusted = (file: string): Buffer => {
  try {
    return readFileSync(file);
  } catch (error) {
    throw storageUnavailable(`GANTRY_GITD_CA cannot be read: ${(error as Error).message}`);
  }
};

const openSocket = ({ address, ca, onCertificate }: GitdAddress): Socket => {
  if ('path' in address) return connect(address);
  const { host, port, isTls = false } = address;
  if (!isTls) return connect({ host, port, noDelay: true });
  const socket = connectByTls({
    host,
    port,
    minVersion: 'TLSv1.3',
    ...(isIP(host) === 0 && { servername: host }),
    ...(ca !== null && { ca: readTrusted(ca) }),
  });
  socket.once('secureConnect', () => {
    const ends = Date.parse(socket.getPeerCertificate().valid_to);
    if (!Number.isNaN(ends)) onCertificate?.(ends);
  });
  return socket.setNoDelay(true);
};

/**
 * Connects and authenticates.
 * @throws GitFailure `unavailable`, also if the peer has another secret
 */
export const dial = async (to: GitdAddress): Promise<Line> => {
  const { secret, instance } = to;
  const socket = openSocket(to);
  const line: Line = { socket, onFrame: () => undefined, onData: () => undefined };
  const { promise, resolve, reject } = Promise.withResolvers<Line>();
  const nonce = randomBytes(16).toString('hex');
  let proof: string | null = null;
  let isAuthenticated = false;
  const onFrame = (frame: Frame): void => {
    if (isAuthenticated) return line.onFrame(frame);
    const { header } = frame;
    if (proof === null && typeof header['nonce'] === 'string') {
      const nonces: [string, string] = [header['nonce'], nonce];
      proof = computeProof('server', secret, nonces);
      writeFrame(socket, { nonce, instance, proof: computeProof('client', secret, nonces) });
      return;
    }
    const refused = header['refused'] as string | undefined;
    if (proof === null || !isProof(header['proof'], proof))
      throw storageUnavailable(
        `the repository storage refused the connection: ${refused ?? 'it has a different secret'}`,
      );
    isAuthenticated = true;
    reader.allow(limitsOfPeers);
    socket.setTimeout(0);
    resolve(line);
  };
  const reader = makeFrameReader(limitsOfStrangers, onFrame, (data) => line.onData(data));
  const fail = (error: Error): void => {
    socket.destroy();
    reject(
      error instanceof GitFailure
        ? error
        : storageUnavailable(`cannot connect to the repository storage: ${error.message}`),
    );
  };
  socket.setTimeout(dialTimeout, () => fail(storageUnavailable('the repository storage does not respond')));
  socket.on('error', fail);
  socket.on('close', () => reject(storageUnavailable('the repository storage closed the connection')));
  socket.on('data', (chunk: Buffer) => {
    try {
      reader.push(chunk);
    } catch (error) {
      fail(error as Error);
    }
  });
  return await promise;
};
