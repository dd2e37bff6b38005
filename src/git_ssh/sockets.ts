/** The connections below SSH: how many there may be, and how long one may stay that says nothing. */
import { type Server, type Socket, createServer } from 'node:net';

export type SocketLimits = {
  connections: number;
  ofOneAddress: number;
  /** Milliseconds that one has to sign in, from its first byte or without any. */
  signIn: number;
  /** Milliseconds that the other side has to close what we have ended. */
  leave: number;
};

export type Sockets = {
  server: Server;
  /** Has signed in: from now on others look after it. */
  release: (peer: { ip: string; port: number }) => void;
  /** Closes those that are still there. */
  destroyAll: () => void;
};

const keyOf = (ip: string | undefined, port: number | undefined): string => `${ip} ${port}`;

/** @param take serves one that may stay */
export const guardSockets = (limits: SocketLimits, take: (socket: Socket) => void): Sockets => {
  const open = new Map<string, { socket: Socket; timer: NodeJS.Timeout }>();
  const byAddress = new Map<string, number>();
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    const { remoteAddress: address = '', remotePort } = socket;
    const ofAddress = byAddress.get(address) ?? 0;
    // Not asked to leave, but cut off: who never closes his end would keep ours for ever.
    if (open.size >= limits.connections || ofAddress >= limits.ofOneAddress) {
      socket.destroy();
      return;
    }
    const key = keyOf(address, remotePort);
    const timer = setTimeout(() => socket.destroy(), limits.signIn).unref();
    open.set(key, { socket, timer });
    byAddress.set(address, ofAddress + 1);
    socket.once('finish', () => setTimeout(() => socket.destroy(), limits.leave).unref());
    socket.once('close', () => {
      clearTimeout(timer);
      open.delete(key);
      const left = (byAddress.get(address) ?? 1) - 1;
      if (left > 0) byAddress.set(address, left);
      else byAddress.delete(address);
    });
    take(socket);
  });
  return {
    server,
    release: ({ ip, port }) => clearTimeout(open.get(keyOf(ip, port))?.timer),
    destroyAll: () => {
      for (const { socket } of open.values()) socket.destroy();
    },
  };
};
