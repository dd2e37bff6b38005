/** Starts all parts of the service in order, and stops them in reverse order. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { endStreams } from '../core/access/open_streams.ts';
import type { Platform } from '../core/platform.ts';
import { startExpiring } from '../ci/artifacts/store/expire_artifacts.ts';
import { startSharingLogs } from '../ci/artifacts/traces/share_log_files.ts';
import { type OwnLogs, openBytes } from '../platform/blob/open_stores.ts';
import type { Config } from '../platform/config/fields.ts';
import type { Sourced } from '../platform/config/read_config.ts';
import { type GitStorages, openGit } from '../platform/git/storages.ts';
import { type Metrics, makeMetrics } from '../platform/http/monitoring/metrics.ts';
import { keepSearchIndexed } from '../planning/issuables/search/fill_search_index.ts';
import { observeStatuses } from '../core/events/collect_statuses.ts';
import { startExpiringMembers } from '../projects/members/expire_members.ts';
import { scheduleDueIssueMails } from '../outgoing/mail/due_issues.ts';
import { observeMailedChanges } from '../outgoing/mail/observe.ts';
import { observeChanges } from '../outgoing/changes/observe.ts';
import { observeRoles } from '../review/merge_requests/merging/scheduled/observe_roles.ts';
import { makeOutageCheck } from '../platform/queue/detect_outage.ts';
import { releaseWork } from '../platform/queue/leases.ts';
import { type Worker, startWorker } from '../platform/queue/worker.ts';
import { startRecovery } from '../code/repository/refs/recover_operations.ts';
import { startSweeping } from '../ci/runner_api/sweep/sweep_jobs.ts';
import { lockFolder, prepareFolder } from './service/data_folder.ts';
import { createRoot, isFirstStart } from './service/first_start.ts';
import { findPreviousProcess, signFolder } from './service/previous_process.ts';
import { listenToSsh, holdServers } from './servers/http_and_ssh.ts';
import { listen, tryAddress } from './servers/listen.ts';
import { makeApp } from './servers/make_app.ts';
import { collectWhileIdle } from './service/idle_gc.ts';
import { readRevision } from './read_revision.ts';
import { applyQuiet } from './service/quiet.ts';
import { type Instance, openInstance } from './service/open_instance.ts';
import { isBackupRunning } from './backup/removal_work.ts';
import { formatBackupMetrics } from './backup/backup_records.ts';
import { startPruning } from '../outgoing/change_stream/prune_changes.ts';
import { startBackups } from './backup/scheduled_backups.ts';
import { type StorageLocks, lockStorages, unlockStorages } from './service/storage_locks.ts';
import { type Watching, startWatching } from './service/watch/start_watching.ts';
import { openSettings } from '../core/settings/settings_store.ts';
import type { Clock } from '../platform/time.ts';
import { version } from '../platform/version.ts';
import { hasPage } from '../doors/web/routes.ts';
import { makeCompletions, lanes, pausingWork, workHandlers } from './background_work.ts';

export type ServiceParts = {
  config: Config;
  /** Where each setting comes from. */
  configOrigin: Sourced['origin'];
  clock: Clock;
  random: (bytes: number) => Buffer;
  log: Logger;
  /** Called when commits can no longer be acknowledged. The process must end. */
  onFatal: (error: unknown) => void;
  /** True if the process does other work, so that the service does not manage its memory. Default: false. */
  sharesProcess?: boolean;
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

type Stops = (() => void | Promise<void>)[];

/** Starts the built-in runner, if it is enabled, without waiting for it. */
const startRunner = async (platform: Platform, bound: string, stops: Stops): Promise<void> => {
  if (platform.config.runner_executor === 'none') return;
  const { keepBuiltInRunner } = await import('./service/supervise_built_in_runner.ts');
  stops.push(keepBuiltInRunner(platform, bound));
};

/**
 * Completes operations that dead processes interrupted. Work leased by this folder's last process is available
 * immediately.
 */
const takeOverWork = async (platform: Platform, stops: Stops): Promise<void> => {
  const { store, config, log } = platform;
  observeStatuses(store);
  stops.push(observeChanges(store));
  observeMailedChanges(platform);
  observeRoles(store);
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

/** The version, the revision, the existing pages and the sources of the configuration. */
const programParts = ({
  configOrigin,
}: ServiceParts): Pick<Platform, 'version' | 'revision' | 'hasPage' | 'configOrigin'> => ({
  configOrigin,
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
  const handlers = watching.measureWork(workHandlers(platform));
  const isOutage = makeOutageCheck(store);
  return startWorker({ store, clock, log, handlers, lanes, pausing: pausingWork, isOutage });
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

const shareOwnLogs = (platform: Platform, own: OwnLogs | null): Stops => {
  const { store, clock } = platform;
  const mayRemove = async (): Promise<boolean> => !(await isBackupRunning(store.db, clock.now()));
  return own === null ? [] : [startSharingLogs({ ...platform, own, mayRemove })];
};

/** Starts the periodic work of the service, and returns what stops it. */
const startMaintenance = (platform: Platform, ownLogs: OwnLogs | null): Stops => [
  ...shareOwnLogs(platform, ownLogs),
  keepSearchIndexed(platform),
  startExpiring(platform),
  startExpiringMembers(platform),
  startPruning(platform),
];

/** Enqueues what runs by the clock. Returns what stops it. */
const startSchedules = async (platform: Platform): Promise<() => void> => {
  await scheduleDueIssueMails(platform);
  return await startBackups(platform);
};

const startCollecting = ({ sharesProcess = false }: ServiceParts, app: FastifyInstance): Stops =>
  sharesProcess ? [] : [collectWhileIdle(app)];

/** Opens the instance, with the configuration that its database allows. */
const openConfigured = async (parts: ServiceParts): Promise<Instance & { usedConfig: Config }> => {
  const instance = await openInstance(parts);
  const usedConfig = await applyQuiet(instance.store, parts.config);
  if (usedConfig.quiet)
    parts.log.warn('the instance is quiet: it sends nothing, and runs no schedules and no jobs');
  return { ...instance, usedConfig };
};

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
    const { store, id, secrets, usedConfig } = await openConfigured(parts);
    stops.push(() => store.close());
    lockStorages(config, locks);
    await store.listenToProcesses();
    const settings = await openSettings(store, (err) => log.error({ err }, 'cannot read settings'));
    const address = makeAddress(config);
    const rootPassword = (await isFirstStart(store)) ? await createRoot(store, config, random) : null;
    const git = openStorages(parts, id);
    stops.push(() => git.stop());
    const { blobs, traces, ownLogs, close } = await openBytes({ config, store, log, instance: id });
    stops.push(close);
    const platform: Platform = {
      config: usedConfig,
      store,
      settings,
      secrets,
      blobs,
      traces,
      git,
      clock,
      random,
      log,
      ...programParts(parts),
      baseUrl: address.get,
    };
    let serving = true;
    const drain = (): void => void (serving = false);
    const { app, watching } = await startApp(platform, parts, { stops, isServing: () => serving });
    const servers = holdServers(app);
    await takeOverWork(platform, stops);
    const stopSchedules = await startSchedules(platform);
    const worker = startPlatformWorker(platform, watching);
    stops.push(() => worker.stop(), ...startMaintenance(platform, ownLogs), stopSchedules);
    stops.push(async () => {
      drain();
      endStreams(platform);
      await servers.stop();
    });
    // Stops first: it ends waiting polls before the port closes.
    stops.push(...startCollecting(parts, app), startSweeping(platform));
    const bound = await listen(app, config.listen);
    const url = address.open(bound);
    const ssh = await listenToSsh({ platform, baseUrl: url, commands: watching.commands }, servers);
    await startRunner(platform, bound, stops);
    return { app, platform, worker, url, ssh, rootPassword, drain, close: stopAll, cut: servers.cut };
  } catch (error) {
    await stopAll();
    throw error;
  }
};
