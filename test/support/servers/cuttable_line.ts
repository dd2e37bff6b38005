/** A line to a server that tests cut and mend. */
import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

export type CuttableLine = { url: string; cut: () => Promise<void>; mend: () => Promise<void> };

/**
 * A proxy to a server whose connections can be cut.
 * @param to URL of the server
 */
export const makeCuttableLine = async (to: string): Promise<CuttableLine> => {
  const url = new URL(to);
  const target = { host: url.hostname, port: Number(url.port) };
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => undefined).on('close', () => void other.destroy());
    }
  });
  let port = 0;
  const mend = async (): Promise<void> => {
    await once(server.listen(port, '127.0.0.1'), 'listening');
    ({ port } = server.address() as AddressInfo);
  };
  const cut = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    await closed;
  };
  await mend();
  url.host = `127.0.0.1:${port}`;
  return { url: url.href, cut, mend };
};
