/** Limits the TCP connections below SSH: their number, and the time and the bytes until authentication. */
import { type Server, type Socket, createServer } from 'node:net';

export type SocketLimits = {
  connections: number;
  ofOneAddress: number;
  /** Milliseconds from connecting to authentication. */
  signIn: number;
  /** Bytes that a client may send until authentication. */
  signInBytes: number;
  /** Milliseconds that the client has to close after we have. */
  leave: number;
};

export type Sockets = {
  server: Server;
  /** Ends the limits until authentication of a connection that is authenticated. */
  release: (peer: { ip: string; port: number }) => void;
  /** Closes all remaining connections. */
  destroyAll: () => void;
};

const makeKey = (ip: string | undefined, port: number | undefined): string => `${ip} ${port}`;

/** Destroys a socket past the limits until authentication. Returns a function that ends them. */
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

/** @param take serves an accepted socket */
export const guardSockets = (limits: SocketLimits, take: (socket: Socket) => void): Sockets => {
  const open = new Map<string, { socket: Socket; release: () => void }>();
  const byAddress = new Map<string, number>();
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    const { remoteAddress: address = '', remotePort } = socket;
    const ofAddress = byAddress.get(address) ?? 0;
    // Destroyed instead of ended: a client that never closes its end would keep ours open.
    if (open.size >= limits.connections || ofAddress >= limits.ofOneAddress) {
      socket.destroy();
      return;
    }
    const key = makeKey(address, remotePort);
    const release = limitSignIn(socket, limits);
    open.set(key, { socket, release });
    byAddress.set(address, ofAddress + 1);
    socket.once('finish', () => setTimeout(() => socket.destroy(), limits.leave).unref());
    socket.once('close', () => {
      release();
      open.delete(key);
      const left = (byAddress.get(address) ?? 1) - 1;
      if (left > 0) byAddress.set(address, left);
      else byAddress.delete(address);
    });
    take(socket);
  });
  return {
    server,
    release: ({ ip, port }) => open.get(makeKey(ip, port))?.release(),
    destroyAll: () => {
      for (const { socket } of open.values()) socket.destroy();
    },
  };
};
