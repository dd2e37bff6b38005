/** Limits the TCP connections below SSH: their number, and the time and the bytes until authentication. */
import { type Server, type Socket, createServer } from 'node:net';
import { readProxyHeader } from './proxy_header.ts';

export type SocketLimits = {
  connections: number;
  ofOneAddress: number;
  /** Milliseconds from connecting to authentication. */
  signIn: number;
  /** Bytes that a client may send until authentication. */
  signInBytes: number;
  /** Milliseconds in which the client must close its side of the connection after the server closed its own. */
  close: number;
};

/** The other end of a socket: the client, or the proxy that relays it. */
type Peer = { ip: string; port: number };

export type Sockets = {
  server: Server;
  /** Returns the address of the client behind a peer. */
  addressOf: (peer: Peer) => string;
  /** Lifts the limits of a connection once its client is authenticated. */
  release: (peer: Peer) => void;
  /** Closes all remaining connections. */
  destroyAll: () => void;
};

const makeKey = (ip: string | undefined, port: number | undefined): string => `${ip} ${port}`;

/** Destroys a socket that exceeds the limits before authentication. Returns a function that lifts them. */
const limitSignIn = (socket: Socket, { signIn, signInBytes }: SocketLimits): (() => void) => {
  const timer = setTimeout(() => socket.destroy(), signIn).unref();
  const count = (): void => {
    if (socket.bytesRead > signInBytes) socket.destroy();
  };
  socket.on('data', count);
  return () => {
    clearTimeout(timer);
    socket.off('data', count);
  };
};

type Client = { socket: Socket; address: string; release: () => void };

/** Counts connections by address. */
const countByAddress = () => {
  const counts = new Map<string, number>();
  return {
    get: (address: string): number => counts.get(address) ?? 0,
    add: (address: string, change: 1 | -1): void => {
      const count = (counts.get(address) ?? 0) + change;
      if (count > 0) counts.set(address, count);
      else counts.delete(address);
    },
  };
};

type Parts = {
  /** Whether connections from an address begin with a header that names the client. */
  isProxy?: (address: string) => boolean;
  /** Serves an accepted socket. */
  take: (socket: Socket) => void;
  /** Called with the address of a proxy that sent no header. */
  onMissingHeader?: (proxy: string) => void;
};

/** Learns the address of the client, from the proxy if one relays it; the socket is destroyed if that fails. */
const learnAddress = (
  socket: Socket,
  { isProxy = () => false, onMissingHeader = () => undefined }: Parts,
  done: (address: string) => void,
): void => {
  const { remoteAddress: peer = '' } = socket;
  if (!isProxy(peer)) return done(peer);
  readProxyHeader(socket, (header) => {
    if (header !== null) return done(header.address ?? peer);
    onMissingHeader(peer);
    socket.destroy();
  });
};

/** Destroys a socket that does not name its client in time. */
const limitHeader = (socket: Socket, { signIn }: SocketLimits): (() => void) => {
  const timer = setTimeout(() => socket.destroy(), signIn).unref();
  return () => clearTimeout(timer);
};

export const guardSockets = (limits: SocketLimits, parts: Parts): Sockets => {
  const open = new Map<string, Client>();
  const byAddress = countByAddress();
  // Destroyed instead of ended: a client that never closes its end would keep ours open.
  const admit = (socket: Socket, client: Client, address: string): void => {
    client.release();
    if (byAddress.get(address) >= limits.ofOneAddress) {
      socket.destroy();
      return;
    }
    byAddress.add(address, 1);
    socket.once('close', () => byAddress.add(address, -1));
    client.address = address;
    client.release = limitSignIn(socket, limits);
    parts.take(socket);
  };
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (open.size >= limits.connections) {
      socket.destroy();
      return;
    }
    const key = makeKey(socket.remoteAddress, socket.remotePort);
    const client: Client = { socket, address: '', release: limitHeader(socket, limits) };
    open.set(key, client);
    socket.once('finish', () => setTimeout(() => socket.destroy(), limits.close).unref());
    socket.once('close', () => {
      client.release();
      open.delete(key);
    });
    learnAddress(socket, parts, (address) => admit(socket, client, address));
  });
  return {
    server,
    addressOf: ({ ip, port }) => open.get(makeKey(ip, port))?.address ?? ip,
    release: ({ ip, port }) => open.get(makeKey(ip, port))?.release(),
    destroyAll: () => {
      for (const { socket } of open.values()) socket.destroy();
    },
  };
};
