import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../platform/config/fields.ts';
import { StartFailure } from '../../platform/errors.ts';

type Address = Config['listen'];

const bracketHost = (host: string): string => (host.includes(':') ? `[${host}]` : host);

const cannotListen = ({ host, port }: Address, error: unknown): StartFailure => {
  const { code, message } = error as NodeJS.ErrnoException;
  const why = code === 'EADDRINUSE' ? 'it is taken' : message;
  return new StartFailure(
    `cannot listen on ${bracketHost(host)}:${port} (${why}): choose another address with --listen`,
  );
};

/**
 * Binds the address and releases it. A first start that cannot listen must not leave an incomplete
 * folder or print a password that is never used.
 */
export const tryAddress = async (address: Address): Promise<void> => {
  const server = createServer();
  try {
    await once(server.listen(address), 'listening');
    await once(server.close(), 'close');
  } catch (error) {
    throw cannotListen(address, error);
  }
};

/** Opens the port and returns the URL of the bound address. */
export const listen = async (app: FastifyInstance, address: Address): Promise<string> => {
  try {
    await app.listen({ ...address, backlog: 1024 });
  } catch (error) {
    throw cannotListen(address, error);
  }
  const bound = app.server.address() as AddressInfo;
  return `http://${bracketHost(bound.address)}:${bound.port}`;
};

/** Stops accepting connections, answers open requests and closes. Idle connections are closed immediately. */
export const stopListening = async (app: FastifyInstance): Promise<void> => {
  const sweep = setInterval(() => app.server.closeIdleConnections(), 100);
  await app.close();
  clearInterval(sweep);
};
