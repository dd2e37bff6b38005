/** Makes everything once, in order; stops it in reverse. */
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { sql } from 'kysely';
import { type Platform, openCall } from './access/call.ts';
import type { Config } from './config.ts';
import { migrate } from './db/migrate.ts';
import { type Store, openStore } from './db/open.ts';
import { Failure, StartFailure } from './errors.ts';
import { mountHealth } from './http/health.ts';
import { type Metrics, makeMetrics } from './http/metrics.ts';
import { finalWords, mountEndpoints } from './http/mount.ts';
import { makeServer } from './http/server.ts';
import { type Worker, startWorker } from './queue/queue.ts';
import { endpoints } from './routes.ts';
import { lockFolder, openSecrets, prepareFolder } from './service/data_folder.ts';
import { createRoot, isFirstStart } from './service/first_start.ts';
import type { Clock } from './time.ts';
import { version } from './version.ts';
import { workHandlers } from './work.ts';

export type ServiceParts = {
  config: Config;
  clock: Clock;
  random: (bytes: number) => Buffer;
  log: Logger;
  /** Told when nothing more may be acknowledged: the process must end. */
  onFatal: (error: unknown) => void;
};

export type Service = {
  app: FastifyInstance;
  platform: Platform;
  worker: Worker;
  /** Where it listens, and the URL that clients use. */
  url: string;
  /** The password of `root` where this first start generated it. */
  rootPassword: string | null;
  close: () => Promise<void>;
};

/** Opens the store of a configuration and brings it to this version's schema. */
export const openMigratedStore = async ({ config, clock, onFatal }: Omit<ServiceParts, 'log' | 'random'>): Promise<Store> => {
  const store = await openStore(
    {
      file: join(config.data, 'gantry.sqlite'),
      ...(config.database_url !== null && { url: config.database_url }),
      schema: config.database_schema,
      connections: config.database_connections,
      onFatal,
    },
    clock,
  );
  try {
    await migrate(store);
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
};

const storeFailure = (store: Store) => {
  return (error: unknown): Failure | null =>
    store.isStoreFull(error) ? new Failure('unavailable', { message: '503 Service Unavailable' }) : null;
};

const listen = async (app: FastifyInstance, { listen: { host, port } }: Config): Promise<string> => {
  try {
    await app.listen({ host, port, backlog: 1024 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'it is taken' : message;
    throw new StartFailure(`cannot listen on ${host}:${port} (${why}): choose another address with --listen`);
  }
  const { address, family, port: bound } = app.server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`;
};

const makeApp = (platform: Platform, metrics: Metrics, isServing: () => boolean): FastifyInstance => {
  const { store, log, config } = platform;
  const app = makeServer({
    log,
    metrics,
    trustedProxies: config.trusted_proxies,
    finalWords: finalWords(endpoints),
    storeFailure: storeFailure(store),
  });
  const checkStore = async (): Promise<void> => void (await sql`select 1`.execute(store.db));
  mountHealth(app, { metrics, checkStore, isServing });
  mountEndpoints(app, endpoints, openCall(platform));
  return app;
};

/** Starts the whole service; the port opens only when every endpoint works. */
export const startService = async (parts: ServiceParts): Promise<Service> => {
  const { config, clock, random, log } = parts;
  prepareFolder(config.data);
  const lock = lockFolder(config.data);
  const stops: (() => void | Promise<void>)[] = [() => lock.release()];
  const stopAll = async (): Promise<void> => {
    for (const stop of stops.splice(0).toReversed()) {
      // oxlint-disable-next-line no-await-in-loop -- in reverse, one after another
      await stop();
    }
  };
  try {
    const store = await openMigratedStore(parts);
    stops.push(() => store.close());
    const first = await isFirstStart(store);
    openSecrets(config.data, first);
    const rootPassword = first ? await createRoot(store, config, random) : null;
    const platform: Platform = { config, store, clock, random, log, version, revision: 'unknown' };
    let serving = true;
    const app = makeApp(platform, makeMetrics(version), () => serving);
    const worker = startWorker({ store, clock, log, handlers: workHandlers(platform) });
    stops.push(() => worker.stop());
    stops.push(async () => {
      serving = false;
      await app.close();
    });
    const bound = await listen(app, config);
    const url = config.external_url ?? bound;
    return { app, platform, worker, url, rootPassword, close: stopAll };
  } catch (error) {
    await stopAll();
    throw error;
  }
};
