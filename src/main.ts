/** Makes everything once, in order; stops it in reverse. */
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { sql } from 'kysely';
import { type Platform, openCall } from './access/call.ts';
import { openBlobs } from './blob/files.ts';
import type { Config } from './config.ts';
import type { Store } from './db/open.ts';
import { type Failure, unavailable, conflict } from './errors.ts';
import { mountHealth } from './http/health.ts';
import { type Metrics, makeMetrics } from './http/metrics.ts';
import { finalWords, mountEndpoints } from './http/mount.ts';
import { makeServer } from './http/server.ts';
import { mountOauth } from './oauth/mount.ts';
import { type Worker, startWorker } from './queue/worker.ts';
import { doors, endpoints } from './routes.ts';
import { lockFolder, openSecrets, prepareFolder } from './service/data_folder.ts';
import { createRoot, isFirstStart } from './service/first_start.ts';
import { listen, stopListening, tryAddress } from './service/listen.ts';
import { collectAtRest } from './service/rest.ts';
import { readRevision } from './service/revision.ts';
import { openMigratedStore } from './service/store.ts';
import { openSettings } from './settings/store.ts';
import type { Clock } from './time.ts';
import { uploadPath } from './uploads/door.ts';
import { version } from './version.ts';
import { mountDocs } from './web/docs_routes.ts';
import { failurePage } from './web/failure_page.ts';
import { mountPages } from './web/mount.ts';
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

const storeFailure = (store: Store) => {
  return (error: unknown): Failure | null => {
    if (store.isStoreFull(error) || store.isUnreachable(error)) return unavailable();
    // Another request took the name, or removed the record, between this one's look and its write.
    const lostRace = store.isUniqueViolation(error) || store.isForeignKeyViolation(error);
    return lostRace ? conflict('409 Conflict') : null;
  };
};

const makeApp = (platform: Platform, metrics: Metrics, isServing: () => boolean): FastifyInstance => {
  const { store, log, config } = platform;
  const app = makeServer({
    log,
    metrics,
    trustedProxies: config.trusted_proxies,
    finalWords: finalWords(endpoints),
    storeFailure: storeFailure(store),
    rewritePath: uploadPath,
    failurePage: failurePage(config.external_url?.startsWith('https:') === true),
  });
  // A client that is answered while the service ends asks elsewhere next.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (!isServing()) void reply.header('connection', 'close');
    done(null, payload);
  });
  const checkStore = async (): Promise<void> => void (await sql`select 1`.execute(store.db));
  mountHealth(app, { metrics, checkStore, isServing });
  const open = openCall(platform);
  mountEndpoints(app, endpoints, open);
  mountEndpoints(app, doors, open, '');
  mountOauth(app, platform);
  mountDocs(app, endpoints, config.external_url);
  mountPages(app, platform);
  return app;
};

/** Starts the whole service; the port opens only when every endpoint works. */
export const startService = async (parts: ServiceParts): Promise<Service> => {
  const { config, clock, random, log } = parts;
  await tryAddress(config.listen);
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
    const { store } = await openMigratedStore(parts);
    stops.push(() => store.close());
    await store.hearOthers();
    const settings = await openSettings(store, (error) => log.error({ err: error }, 'settings not read'));
    const first = await isFirstStart(store);
    const secrets = openSecrets(config.data, first);
    const rootPassword = first ? await createRoot(store, config, random) : null;
    const platform: Platform = {
      config,
      store,
      settings,
      secrets,
      blobs: await openBlobs(join(config.data, 'blobs')),
      clock,
      random,
      log,
      version,
      revision: readRevision(),
    };
    let serving = true;
    const app = makeApp(platform, makeMetrics(version), () => serving);
    const worker = startWorker({ store, clock, log, handlers: workHandlers(platform) });
    stops.push(() => worker.stop());
    stops.push(async () => {
      serving = false;
      await stopListening(app);
    });
    stops.push(collectAtRest(app));
    const bound = await listen(app, config.listen);
    const url = config.external_url ?? bound;
    return { app, platform, worker, url, rootPassword, close: stopAll };
  } catch (error) {
    await stopAll();
    throw error;
  }
};
