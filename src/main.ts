/** Makes everything once, in order; stops it in reverse. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { sql } from 'kysely';
import { type Platform, openCall } from './access/call.ts';
import { artifactPath } from './artifacts/door.ts';
import { keepExpiring } from './artifacts/expiry.ts';
import { endStreams } from './artifacts/open_streams.ts';
import { openBytes } from './blob/open.ts';
import type { Config } from './config.ts';
import type { Store } from './db/open.ts';
import { type Failure, conflict, notFound, unavailable } from './errors.ts';
import { type GitFailure, isGitFailure } from './git/failure.ts';
import { type GitStorages, openGit } from './git/storages.ts';
import { gitPath } from './git_http/routes.ts';
import type { SshServer } from './git_ssh/server.ts';
import type { SshSite } from './git_ssh/session.ts';
import { tooLarge, unreadable } from './http/failure.ts';
import { mountHealth } from './http/health.ts';
import { type Metrics, makeMetrics } from './http/metrics.ts';
import { monitoringGuard } from './http/monitoring.ts';
import { finalWords, mountEndpoints } from './http/mount.ts';
import { makeServer } from './http/server.ts';
import { keepSearchIndexed } from './issuables/search_index.ts';
import { mountOauth } from './oauth/mount.ts';
import { workMetrics } from './queue/metrics.ts';
import { outageOf } from './queue/outage.ts';
import { freeWorkOf } from './queue/taken.ts';
import { type Worker, startWorker } from './queue/worker.ts';
import { keepRecovering } from './repository/recover.ts';
import { doors, endpoints } from './routes.ts';
import { keepSweeping } from './runner_api/sweep.ts';
import { lockFolder, prepareFolder } from './service/data_folder.ts';
import { createRoot, isFirstStart } from './service/first_start.ts';
import { lastProcess, signFolder } from './service/last_process.ts';
import { listen, stopListening, tryAddress } from './service/listen.ts';
import { collectAtRest } from './service/rest.ts';
import { readRevision } from './service/revision.ts';
import { openInstance } from './service/open_instance.ts';
import { badgePath } from './pipelines/badge_door.ts';
import { openSettings } from './settings/store.ts';
import type { Clock } from './time.ts';
import { uploadPath } from './uploads/door.ts';
import { projectPagePath } from './web/project_door.ts';
import { version } from './version.ts';
import { mountDocs } from './web/docs_routes.ts';
import { failurePage } from './web/failure_page.ts';
import { mountPages } from './web/mount.ts';
import { hasPage } from './web/routes.ts';
import { completionsOf, lanes, workHandlers } from './work.ts';

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
  /** The port on which SSH is answered; null: it is not. */
  ssh: number | null;
  /** The password of `root` where this first start generated it. */
  rootPassword: string | null;
  /** From now on readiness fails and clients are told to reconnect; requests are served as before. */
  drain: () => void;
  /** Accepts no more, and resolves when open requests are answered and everything has stopped. */
  close: () => Promise<void>;
  /** Closes the connections that `close` waits for. */
  cut: () => void;
};

/** What a storage's failure is to one who asked; null: a fault of ours. */
const gitFailure = ({ kind }: GitFailure): Failure | null => {
  if (kind === 'unavailable' || kind === 'limit') return unavailable();
  if (kind === 'too_large') return tooLarge('the content of the repository exceeds a limit');
  if (kind === 'conflict') return conflict('409 Conflict');
  if (kind === 'invalid') return unreadable();
  return kind === 'missing' ? notFound() : null;
};

const storeFailure = (store: Store) => {
  return (error: unknown): Failure | null => {
    const mayRetry = store.isStoreFull(error) || store.isUnreachable(error) || store.isConflict(error);
    if (mayRetry) return unavailable();
    if (isGitFailure(error)) return gitFailure(error);
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
    rewritePath: (path) => gitPath(projectPagePath(badgePath(uploadPath(artifactPath(path))))),
    failurePage: failurePage(config.external_url?.startsWith('https:') === true),
  });
  // A client that is answered while the service ends asks elsewhere next.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (!isServing()) void reply.header('connection', 'close');
    done(null, payload);
  });
  const checkStore = async (): Promise<void> => void (await sql`select 1`.execute(store.db));
  const mayMonitor = monitoringGuard({
    allow: config.monitoring_allow,
    token: config.monitoring_token,
    trustedProxies: config.trusted_proxies,
  });
  mountHealth(app, { metrics, checkStore, isServing, mayMonitor });
  const open = openCall(platform);
  mountEndpoints(app, endpoints, open);
  mountEndpoints(app, doors, open, '');
  mountOauth(app, platform);
  mountDocs(app, endpoints, config.external_url);
  mountPages(app, platform);
  return app;
};

/** The servers that clients connect to, stopped and cut together. */
const serversOf = (app: FastifyInstance) => {
  let ssh: SshServer | null = null;
  return {
    addSsh: (server: SshServer): void => void (ssh = server),
    stop: async (): Promise<void> => void (await Promise.all([stopListening(app), ssh?.stop()])),
    cut: (): void => {
      app.server.closeAllConnections();
      ssh?.cut();
    },
  };
};

/** SSH, where it is configured: else nothing of it is loaded. Answers the port. */
const listenToSsh = async (site: SshSite, servers: ReturnType<typeof serversOf>): Promise<number | null> => {
  const { ssh_listen } = site.platform.config;
  if (ssh_listen === null) return null;
  const { startSsh } = await import('./git_ssh/server.ts');
  const ssh = await startSsh(site, ssh_listen);
  servers.addSsh(ssh);
  return ssh.port;
};

/** The built-in runner, where it is wanted. It is not waited for. */
const startRunner = async (platform: Platform, bound: string, stops: Stops): Promise<void> => {
  if (platform.config.runner_executor === 'none') return;
  const { keepBuiltInRunner } = await import('./service/runner.ts');
  stops.push(keepBuiltInRunner(platform, bound));
};

/** Ends what others began and died in; of the process before this one at once, whose work is then free, too. */
const takeOver = async (platform: Platform, stops: Stops): Promise<void> => {
  const { store, config, log } = platform;
  const last = await lastProcess(store, config.data);
  stops.push(await keepRecovering(platform, completionsOf(platform), last));
  if (last !== null) await freeWorkOf(store, last);
  signFolder(config.data, log);
};

const openStorages = ({ config, random, log }: ServiceParts, instance: string): GitStorages =>
  openGit({
    storages: config.repository_storages,
    data: config.data,
    secret: config.gitd_secret,
    instance,
    random,
    log: (level, details, message) => log[level](details, message),
  });

/** What the program itself determines. */
const builtIn = (): Pick<Platform, 'version' | 'revision' | 'hasPage'> => ({
  version,
  revision: readRevision(),
  hasPage,
});

const workMetricsOf = async (platform: Platform): Promise<string> => {
  const { store, clock } = platform;
  const kinds = Object.keys(workHandlers(platform));
  return await workMetrics({ db: store.db, now: clock.now(), kinds, lanes });
};

const startWorkerOf = (platform: Platform): Worker => {
  const { store, clock, log } = platform;
  const handlers = workHandlers(platform);
  return startWorker({ store, clock, log, handlers, lanes, isOutage: outageOf(store) });
};

type Stops = (() => void | Promise<void>)[];

const stopInReverse = async (stops: Stops): Promise<void> => {
  for (const stop of stops.toReversed()) {
    // oxlint-disable-next-line no-await-in-loop -- one after another
    await stop();
  }
};

/** Starts the whole service; the port opens only when every endpoint works. */
export const startService = async (parts: ServiceParts): Promise<Service> => {
  const { config, clock, random, log } = parts;
  await tryAddress(config.listen);
  prepareFolder(config.data);
  const lock = lockFolder(config.data);
  const stops: Stops = [() => lock.release()];
  const stopAll = async (): Promise<void> => await stopInReverse(stops.splice(0));
  try {
    const { store, id, secrets } = await openInstance(parts);
    stops.push(() => store.close());
    await store.hearOthers();
    const settings = await openSettings(store, (error) => log.error({ err: error }, 'settings not read'));
    const first = await isFirstStart(store);
    const rootPassword = first ? await createRoot(store, config, random) : null;
    const git = openStorages(parts, id);
    stops.push(() => git.stop());
    const { blobs, traces, close } = await openBytes({ config, store, log });
    stops.push(close);
    const platform: Platform = {
      config,
      store,
      settings,
      secrets,
      blobs,
      traces,
      git,
      clock,
      random,
      log,
      ...builtIn(),
    };
    let serving = true;
    const drain = (): void => void (serving = false);
    const metrics = makeMetrics(version, async () => await workMetricsOf(platform));
    const app = makeApp(platform, metrics, () => serving);
    const servers = serversOf(app);
    await takeOver(platform, stops);
    const worker = startWorkerOf(platform);
    stops.push(() => worker.stop(), keepSearchIndexed({ store, log }), keepExpiring(platform));
    stops.push(async () => {
      drain();
      endStreams(platform);
      await servers.stop();
    });
    // The last ends the polls that wait, before the port closes.
    stops.push(collectAtRest(app), keepSweeping(platform));
    const bound = await listen(app, config.listen);
    const url = config.external_url ?? bound;
    const ssh = await listenToSsh({ platform, baseUrl: url }, servers);
    await startRunner(platform, bound, stops);
    return { app, platform, worker, url, ssh, rootPassword, drain, close: stopAll, cut: servers.cut };
  } catch (error) {
    await stopAll();
    throw error;
  }
};
