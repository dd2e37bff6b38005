/** Starts all parts of the service in order, and stops them in reverse order. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { sql } from 'kysely';
import { endStreams } from '../core/access/open_streams.ts';
import { openCall } from '../core/access/open_call.ts';
import type { Platform } from '../core/platform.ts';
import { escapeArtifactPath } from '../ci/artifacts/archives/escape_path_slashes.ts';
import { startExpiring } from '../ci/artifacts/store/expiry.ts';
import { openBytes } from '../platform/blob/open_stores.ts';
import type { Config } from '../platform/config/fields.ts';
import type { Store } from '../platform/db/open.ts';
import { type Failure, conflict, notFound, unavailable } from '../platform/errors.ts';
import { type GitFailure, isGitFailure } from '../platform/git/failure.ts';
import { type GitStorages, openGit } from '../platform/git/storages.ts';
import { gitPath } from '../doors/git_http/routes.ts';
import type { SshServer } from '../doors/git_ssh/server.ts';
import type { SshSite } from '../doors/git_ssh/run_command.ts';
import { tooLarge, unreadable } from '../platform/http/failure.ts';
import { mountHealth } from '../platform/http/monitoring/health.ts';
import { type Metrics, makeMetrics } from '../platform/http/monitoring/metrics.ts';
import { monitoringGuard } from '../platform/http/monitoring/access.ts';
import { finalWords, mountEndpoints } from '../platform/http/mount.ts';
import { makeRouteTable } from '../platform/http/route_table.ts';
import { makeServer } from '../platform/http/server.ts';
import { keepSearchIndexed } from '../planning/issuables/search/fill_search_index.ts';
import { observeMailedChanges } from '../outgoing/mail/observe.ts';
import { observeChanges } from '../outgoing/changes/observe.ts';
import { mountOauth } from '../identity/oauth/mount.ts';
import { makeOutageCheck } from '../platform/queue/detect_outage.ts';
import { releaseWork } from '../platform/queue/leases.ts';
import { type Worker, startWorker } from '../platform/queue/worker.ts';
import { startRecovery } from '../code/repository/refs/recover_operations.ts';
import { doors, endpoints } from './routes.ts';
import { startSweeping } from '../ci/runner_api/sweep/sweep_jobs.ts';
import { lockFolder, prepareFolder } from './service/data_folder.ts';
import { createRoot, isFirstStart } from './service/first_start.ts';
import { findPreviousProcess, signFolder } from './service/previous_process.ts';
import { listen, stopListening, tryAddress } from './service/listen.ts';
import { collectAtRest as collectWhileIdle } from './service/idle_gc.ts';
import { readRevision } from './service/git_revision.ts';
import { openInstance } from './service/open_instance.ts';
import { formatBackupMetrics } from './backup/backup_records.ts';
import { startPruning } from '../outgoing/change_stream/prune_changes.ts';
import { startBackups } from './backup/scheduled_backups.ts';
import { type StorageLocks, lockStorages, unlockStorages } from './service/storage_locks.ts';
import { type Watching, startWatching } from './service/watch/start_watching.ts';
import { rewriteBadgePath } from '../ci/pipelines/badges/routes.ts';
import { openSettings } from '../core/settings/settings_store.ts';
import type { Clock } from '../platform/time.ts';
import { uploadPath } from '../projects/uploads/web_path.ts';
import { servedHomePath, servedPagePath } from '../doors/web/request/project_paths.ts';
import { version } from '../platform/version.ts';
import { mountDocs } from '../doors/web/docs/routes.ts';
import { failurePage } from '../doors/web/request/failure_page.ts';
import { mountPages } from '../doors/web/request/mount_pages.ts';
import { hasPage } from '../doors/web/routes.ts';
import { makeCompletions, lanes, workHandlers } from './background_work.ts';

export type ServiceParts = {
  config: Config;
  clock: Clock;
  random: (bytes: number) => Buffer;
  log: Logger;
  /** Called when commits can no longer be acknowledged. The process must end. */
  onFatal: (error: unknown) => void;
};

export type Service = {
  app: FastifyInstance;
  platform: Platform;
  worker: Worker;
  /** Public base URL. */
  url: string;
  /** Port of the SSH server; null: SSH is off. */
  ssh: number | null;
  /** Password of `root` if this first start generated it; else null. */
  rootPassword: string | null;
  /** Fails readiness and asks clients to reconnect. Requests are still served. */
  drain: () => void;
  /** Stops accepting requests. Resolves when open requests are answered and everything has stopped. */
  close: () => Promise<void>;
  /** Closes the connections that `close` waits for. */
  cut: () => void;
};

/** Returns the response to a failure of a repository storage; null: an internal error. */
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
    // Another request took the name or removed the record between the check and the write.
    const lostRace = store.isUniqueViolation(error) || store.isForeignKeyViolation(error);
    return lostRace ? conflict('409 Conflict') : null;
  };
};

/** Maps the addresses of people and git clients to routes. */
const rewritePath = (path: string): string => {
  const served = gitPath(servedPagePath(rewriteBadgePath(uploadPath(escapeArtifactPath(path)))));
  return served === path ? servedHomePath(path) : served;
};

type Watched = { metrics: Metrics; watching: Watching; isServing: () => boolean };

const makeApp = (platform: Platform, { metrics, watching, isServing }: Watched): FastifyInstance => {
  const { store, log, config } = platform;
  const routes = makeRouteTable();
  const app = makeServer({
    log,
    metrics,
    tracer: watching.tracer,
    routes,
    trustedProxies: config.trusted_proxies,
    finalWords: finalWords(endpoints),
    storeFailure: storeFailure(store),
    rewritePath,
    failurePage: failurePage(config.external_url?.startsWith('https:') === true),
  });
  // Clients that get a response while the service stops must reconnect elsewhere.
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
  const judgeParts = async () => await watching.judge(platform);
  mountHealth(routes, { metrics, checkStore, judgeParts, isServing, mayMonitor });
  const open = openCall(platform);
  mountEndpoints(routes, endpoints, open);
  mountEndpoints(routes, doors, open, '');
  mountOauth(routes, platform);
  mountDocs(routes, endpoints, config.external_url);
  mountPages(routes, platform);
  return app;
};

/** Stops and closes the HTTP server and the SSH server. */
const makeServers = (app: FastifyInstance) => {
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

/** Starts the SSH server if it is configured, and returns its port. Its module is loaded only then. */
const listenToSsh = async (
  site: SshSite,
  servers: ReturnType<typeof makeServers>,
): Promise<number | null> => {
  const { ssh_listen } = site.platform.config;
  if (ssh_listen === null) return null;
  const { startSsh } = await import('../doors/git_ssh/server.ts');
  const ssh = await startSsh(site, ssh_listen);
  servers.addSsh(ssh);
  return ssh.port;
};

type Stops = (() => void | Promise<void>)[];

/** Starts the built-in runner, if it is enabled, without waiting for it. */
const startRunner = async (platform: Platform, bound: string, stops: Stops): Promise<void> => {
  if (platform.config.runner_executor === 'none') return;
  const { keepBuiltInRunner } = await import('./service/built_in_runner.ts');
  stops.push(keepBuiltInRunner(platform, bound));
};

/**
 * Completes operations that dead processes interrupted. Work leased by this folder's last process is free at once.
 */
const takeOverWork = async (platform: Platform, stops: Stops): Promise<void> => {
  const { store, config, log } = platform;
  stops.push(observeChanges(store));
  observeMailedChanges(platform);
  const last = await findPreviousProcess(store, config.data);
  stops.push(await startRecovery(platform, makeCompletions(platform), last));
  if (last !== null) await releaseWork(store, last);
  signFolder(config.data, log);
};

const openStorages = ({ config, random, log }: ServiceParts, instance: string): GitStorages =>
  openGit({
    storages: config.repository_storages,
    data: config.data,
    secret: config.gitd_secret,
    ca: config.gitd_ca,
    instance,
    random,
    log: (level, details, message) => log[level](details, message),
  });

/** The version, the revision and the existing pages. */
const programParts = (): Pick<Platform, 'version' | 'revision' | 'hasPage'> => ({
  version,
  revision: readRevision(),
  hasPage,
});

const makePlatformMetrics = (platform: Platform, watching: Watching): Metrics => {
  const kinds = Object.keys(workHandlers(platform));
  return makeMetrics(version, async () => {
    const backups = formatBackupMetrics(platform.store.db).catch(() => '');
    return [await watching.metricsText(platform, kinds, lanes), await backups].join('\n');
  });
};

const startPlatformWorker = (platform: Platform, watching: Watching): Worker => {
  const { store, clock, log } = platform;
  const handlers = watching.watchWork(workHandlers(platform));
  return startWorker({ store, clock, log, handlers, lanes, isOutage: makeOutageCheck(store) });
};

/** The public base URL. Without a configured one, the system may choose its port when it opens. */
const makeAddress = ({ external_url, listen: { host, port } }: Config) => {
  let url = external_url ?? `http://${host}:${port}`;
  return { get: () => url, open: (bound: string) => (url = external_url ?? bound) };
};

/** Starts what the service is watched by, and makes the server that it watches. */
const startApp = async (
  platform: Platform,
  parts: ServiceParts,
  { stops, isServing }: { stops: Stops; isServing: () => boolean },
) => {
  const watching = await startWatching(parts);
  stops.push(watching.stop);
  const metrics = makePlatformMetrics(platform, watching);
  return { watching, app: makeApp(platform, { metrics, watching, isServing }) };
};

const stopInReverse = async (stops: Stops): Promise<void> => {
  for (const stop of stops.toReversed()) {
    await stop();
  }
};

/** Starts the periodic work of the service, and returns what stops it. */
const startMaintenance = (platform: Platform): Stops => [
  keepSearchIndexed(platform),
  startExpiring(platform),
  startPruning(platform),
];

/** Starts the whole service; the port opens only when every endpoint works. */
export const startService = async (parts: ServiceParts): Promise<Service> => {
  const { config, clock, random, log } = parts;
  await tryAddress(config.listen);
  prepareFolder(config.data);
  const lock = lockFolder(config.data);
  const locks: StorageLocks = new Map();
  const stops: Stops = [() => lock.release(), () => unlockStorages(locks)];
  const stopAll = async (): Promise<void> => await stopInReverse(stops.splice(0));
  try {
    lockStorages(config, locks);
    const { store, id, secrets } = await openInstance(parts);
    stops.push(() => store.close());
    lockStorages(config, locks);
    await store.listenToProcesses();
    const settings = await openSettings(store, (err) => log.error({ err }, 'cannot read settings'));
    const address = makeAddress(config);
    const rootPassword = (await isFirstStart(store)) ? await createRoot(store, config, random) : null;
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
      ...programParts(),
      baseUrl: address.get,
    };
    let serving = true;
    const drain = (): void => void (serving = false);
    const { app, watching } = await startApp(platform, parts, { stops, isServing: () => serving });
    const servers = makeServers(app);
    await takeOverWork(platform, stops);
    const stopBackups = await startBackups(platform);
    const worker = startPlatformWorker(platform, watching);
    stops.push(() => worker.stop(), ...startMaintenance(platform), stopBackups);
    stops.push(async () => {
      drain();
      endStreams(platform);
      await servers.stop();
    });
    // Stops first: it ends waiting polls before the port closes.
    stops.push(collectWhileIdle(app), startSweeping(platform));
    const bound = await listen(app, config.listen);
    const url = address.open(bound);
    const ssh = await listenToSsh({ platform, baseUrl: url }, servers);
    await startRunner(platform, bound, stops);
    return { app, platform, worker, url, ssh, rootPassword, drain, close: stopAll, cut: servers.cut };
  } catch (error) {
    await stopAll();
    throw error;
  }
};
