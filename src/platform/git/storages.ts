/** The repository storages of the service, and the repositories in them. */
import { hash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Connection, type Outcome, openConnection } from './connection.ts';
import type { GitdAddress, RemoteAddress } from './dial.ts';
import { type RestartWait, makeRestartWait } from './await_restart.ts';
import { observed } from '../db/statement_meter.ts';
import { dayMilliseconds } from '../time.ts';
import { storageUnavailable, isGitFailure } from './failure.ts';
import { type StorageLoad, protocolVersion } from './protocol_types.ts';
import {
  type Repository,
  type RepositoryLocation,
  type StorageClient,
  makeRepository,
} from './repository.ts';
import { type SpareConnection, keepSpareConnection } from './spare_connection.ts';
import { type Channel, makeStorageClient, noteRepositoryRead } from './storage_client.ts';
import { type GitdSupervisor, superviseGitd } from './supervise_gitd.ts';

/** `address`: of a remote gitd. */
export type StorageSite = {
  name: string;
  /** Absolute path; null: a folder in the data folder. */
  path: string | null;
  address: RemoteAddress | null;
};

export type GitParts = {
  storages: StorageSite[];
  /** The data folder. */
  data: string;
  /** Secret shared with remote storages; null if there are none. */
  secret: string | null;
  /** Path of the CA certificates for TLS to remote storages; null: well-known authorities. */
  ca: string | null;
  /** Our instance id. Storages of other instances refuse connections. */
  instance: string;
  /**
   * Runs alongside a service that owns the storages of this machine. Writes only to repositories that nobody else uses.
   */
  isGuest?: boolean;
  random: (bytes: number) => Buffer;
  log: (level: 'info' | 'warn', details: object, message: string) => void;
};

export type StorageStatus = {
  name: string;
  version: number;
  git: string;
  pid: number;
  /** Bytes of its disk; absent or null: not known. */
  space?: { free: number; total: number } | null;
  /** Absent: an earlier gitd. */
  load?: StorageLoad;
};

/** Milliseconds before the end of a certificate from which it needs attention. */
export const certificateNotice = 30 * dayMilliseconds;

export type GitStorages = {
  repository: (location: RepositoryLocation) => Repository;
  /**
   * Reports on a storage, and starts its gitd if necessary.
   * @throws GitFailure `unavailable`
   */
  status: (storage: string) => Promise<StorageStatus>;
  /**
   * Returns until when the certificate of a storage is valid, in milliseconds since 1970, as of the last connection;
   * null: it has none, or there was no connection yet.
   */
  certificateEnds: (storage: string) => number | null;
  stop: () => Promise<void>;
};

/**
 * Formats a path, `@hashed/ab/cd/<64 digits>.git`. No folder gets too many entries, and no user chooses a name on
 * disk.
 */
const formatPath = (digits: string): string =>
  `@hashed/${digits.slice(0, 2)}/${digits.slice(2, 4)}/${digits}.git`;

/**
 * Generates the path of a new repository. Random, so that it collides with no existing repository, not even one of
 * another database.
 */
export const generateRepositoryPath = (): string => formatPath(randomBytes(32).toString('hex'));

export const getRepositoryPath = ({
  id,
  repository_path,
}: Pick<RepositoryLocation, 'id' | 'repository_path'>): string =>
  repository_path ?? formatPath(hash('sha256', String(id), 'hex'));

/** Returns the root of a local storage, by default below the data folder. */
export const getLocalRoot = (data: string, { name, path }: StorageSite): string =>
  path ?? join(data, 'repositories', name);

/**
 * Connects and checks the protocol version.
 * @throws GitFailure `unavailable`, also for another version
 */
export const openCheckedConnection = async (address: GitdAddress): Promise<Connection> => {
  const connection = await openConnection(address);
  const { result } = await connection.call('storage.hello', { version: protocolVersion }, undefined, {
    seconds: 10,
  });
  const { version } = result as { version: number };
  if (version === protocolVersion && connection.isOpen()) return connection;
  connection.close();
  if (version === protocolVersion) throw storageUnavailable('the repository storage is stopping');
  throw storageUnavailable(
    `the repository storage speaks version ${version}, this service ${protocolVersion}`,
  );
};

/** Creates one connection for all calls, reopened when it breaks. */
const makeChannel = (getAddress: () => Promise<GitdAddress>, onOpen: () => void): Channel => {
  let current: Promise<Connection> | null = null;
  const open = (): Promise<Connection> => {
    const next = getAddress().then(openCheckedConnection);
    next.then(onOpen, () => {
      if (current === next) current = null;
    });
    current = next;
    return next;
  };
  return {
    connection: async () => {
      const last = current;
      const present = await last?.catch(() => null);
      if (present?.isOpen() === true) return present;
      if (current === last) current = null; // otherwise another call has opened a new connection already
      return await (current ?? open());
    },
    close: () => void current?.then((connection) => connection.close()).catch(() => undefined),
  };
};

/** Milliseconds within which the death of a process is noticed. */
const deathNotice = 50;

/** Retries connecting to a local gitd that has just died. Nothing was sent yet, so a retry is safe. */
const retryLocal: RestartWait['connect'] = async (connect) => {
  for (let tries = 3; ; tries -= 1) {
    try {
      return await connect();
    } catch (error) {
      if (tries === 0 || !isGitFailure(error, 'unavailable')) throw error;
      await wait(deathNotice);
    }
  }
};

type OpenedStorage = {
  client: StorageClient;
  /** Asks the storage for its status, without waiting for one that is away. */
  hello: () => Promise<Outcome>;
  /** The gitd of a local storage; null if it is remote. */
  supervisor: GitdSupervisor | null;
  channel: Channel;
  spare: SpareConnection;
  restart: RestartWait;
  certificateEnds: () => number | null;
  /** Connects once more if the certificate ends soon: it may have been renewed since. */
  checkCertificateAgain: () => Promise<void>;
};

const connectStorage = (
  name: string,
  supervisor: GitdSupervisor | null,
  getPlainAddress: () => Promise<GitdAddress>,
): OpenedStorage => {
  let certificateEnds: number | null = null;
  const onCertificate = (ends: number): void => void (certificateEnds = ends);
  const onStopping = (): void => {
    restart.noteStopping();
    spare.drop();
  };
  const getAddress = async (): Promise<GitdAddress> => ({
    ...(await getPlainAddress()),
    onCertificate,
    onStopping,
  });
  const channel = makeChannel(getAddress, () => restart.noteReached());
  const restart = makeRestartWait(channel.connection);
  const spare = keepSpareConnection(getAddress);
  const connect = supervisor === null ? restart.connect : retryLocal;
  const client = makeStorageClient({ name, connect, spare, channel });
  const hello = async (): Promise<Outcome> => {
    noteRepositoryRead();
    return await observed({ kind: 'gitd', name: 'storage.hello' }, async () => {
      const isRemote = supervisor === null;
      const connection = await (isRemote ? channel.connection() : retryLocal(channel.connection, {}));
      return await connection.call('storage.hello', { version: protocolVersion }, undefined, {});
    });
  };
  return {
    client,
    hello,
    restart,
    supervisor,
    channel,
    spare,
    certificateEnds: () => certificateEnds,
    checkCertificateAgain: async () => {
      if (certificateEnds === null || certificateEnds > Date.now() + certificateNotice) return;
      (await openCheckedConnection(await getAddress())).close();
    },
  };
};

const openLocalStorage = (
  { data, isGuest = false, instance, random, log }: GitParts,
  site: StorageSite,
): OpenedStorage => {
  const { name } = site;
  const id = (bytes: number): string => random(bytes).toString('hex');
  const supervisor = superviseGitd(
    {
      root: getLocalRoot(data, site),
      listen: isGuest ? { host: '127.0.0.1', port: 0 } : { folder: join(data, 'gitd', name) },
      isGuest,
      secret: id(32),
      onLine: (line) => log('warn', { storage: name, line }, 'gitd output'),
    },
    () => id(6),
  );
  return connectStorage(name, supervisor, async () => ({ ...(await supervisor.place()), instance }));
};

const openRemoteStorage = (
  { instance, secret, ca }: GitParts,
  name: string,
  address: RemoteAddress,
): OpenedStorage => connectStorage(name, null, async () => ({ address, secret: secret ?? '', ca, instance }));

const openStorage = (parts: GitParts, site: StorageSite): OpenedStorage =>
  site.address === null ? openLocalStorage(parts, site) : openRemoteStorage(parts, site.name, site.address);

/** Opens the storages. Starts and connects nothing before first use. */
export const openGit = (parts: GitParts): GitStorages => {
  const opened = new Map(parts.storages.map((site) => [site.name, openStorage(parts, site)]));
  const getOpened = (storage: string): OpenedStorage => {
    const entry = opened.get(storage);
    if (entry === undefined) throw storageUnavailable(`the repository storage ${storage} is not configured`);
    return entry;
  };
  return {
    repository: (location) =>
      makeRepository(
        getOpened(location.repository_storage).client,
        getRepositoryPath(location),
        location.repository_written === 1,
      ),
    status: async (storage) => {
      const { hello, checkCertificateAgain } = getOpened(storage);
      const { result } = await hello();
      await checkCertificateAgain();
      return { name: storage, ...(result as Omit<StorageStatus, 'name'>) };
    },
    certificateEnds: (storage) => opened.get(storage)?.certificateEnds() ?? null,
    stop: async () => {
      for (const { channel, spare, restart } of opened.values()) {
        restart.stop();
        channel.close();
        spare.close();
      }
      await Promise.all([...opened.values()].map(async ({ supervisor }) => await supervisor?.stop()));
    },
  };
};
