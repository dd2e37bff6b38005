import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import { StartFailure } from '../errors.ts';

type Address = Config['listen'];

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);

const cannotListen = ({ host, port }: Address, error: unknown): StartFailure => {
  const { code, message } = error as NodeJS.ErrnoException;
  const why = code === 'EADDRINUSE' ? 'it is taken' : message;
  return new StartFailure(
    `cannot listen on ${bracketed(host)}:${port} (${why}): choose another address with --listen`,
  );
};

/**
 * Takes the address and gives it back at once: a first start that cannot listen must not leave a half-begun
 * folder, nor spend the one time at which the generated password is shown.
 */
export const tryAddress = async (address: Address): Promise<void> => {
  const server = createServer();
  try {
    await once(server.listen(address), 'listening');
    await new Promise<void>((done) => server.close(() => done()));
  } catch (error) {
    throw cannotListen(address, error);
  }
};

/** Opens the port; answers the URL of what was bound. */
export const listen = async (app: FastifyInstance, address: Address): Promise<string> => {
  try {
    await app.listen({ ...address, backlog: 1024 });
  } catch (error) {
    throw cannotListen(address, error);
  }
  const bound = app.server.address() as AddressInfo;
  return `http://${bracketed(bound.address)}:${bound.port}`;
};

/** Answers what is under way, then closes; a connection whose last answer is out is not waited for. */
export const stopListening = async (app: FastifyInstance): Promise<void> => {
  const sweep = setInterval(() => app.server.closeIdleConnections(), 100);
  await app.close();
  clearInterval(sweep);
};
