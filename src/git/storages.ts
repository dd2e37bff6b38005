/** The repository storages of this service: how each is reached, and the repositories in them. */
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Connection, type Outcome, openConnection } from './connection.ts';
import type { Place } from './dial.ts';
import { gone, isGitFailure } from './failure.ts';
import { type Method, protocolVersion } from './protocol_types.ts';
import { type Reach, type Repository, type RepositoryPlace, makeRepository } from './repository.ts';
import { type SpareLine, keepSpareLine } from './spare_line.ts';
import { openStream } from './stream.ts';
import { type Keeper, keepGitd } from './supervise.ts';

/** `address`: kept by a gitd that somebody else runs. */
export type StorageSite = {
  name: string;
  /** Absolute; null: a folder of the data folder. */
  path: string | null;
  address: { host: string; port: number } | null;
};

export type GitParts = {
  storages: StorageSite[];
  /** The folder that holds everything the service keeps. */
  data: string;
  /** What the storages elsewhere know, too; null: there are none. */
  secret: string | null;
  /** The id of ours: no storage of another one answers. */
  instance: string;
  /** The storages of this machine are only looked at, beside a service that may run; nothing is made on disk. */
  readOnly?: boolean;
  random: (bytes: number) => Buffer;
  log: (level: 'info' | 'warn', details: object, message: string) => void;
};

export type StorageStatus = { name: string; version: number; git: string; pid: number };

export type GitStorages = {
  repository: (place: RepositoryPlace) => Repository;
  /** Starts the storage where it does not run. @throws GitFailure `unavailable` */
  status: (storage: string) => Promise<StorageStatus>;
  stop: () => Promise<void>;
};

/** `@hashed/ab/cd/<64 digits>.git`, so that no folder has too many entries and no user chooses a name on disk. */
const pathBy = (digits: string): string =>
  `@hashed/${digits.slice(0, 2)}/${digits.slice(2, 4)}/${digits}.git`;

/** For a new project: no repository that lies in a storage already, of whatever database, has this path. */
export const newRepositoryPath = (): string => pathBy(randomBytes(32).toString('hex'));

export const repositoryPath = ({
  id,
  repository_path,
}: Pick<RepositoryPlace, 'id' | 'repository_path'>): string =>
  repository_path ?? pathBy(createHash('sha256').update(String(id)).digest('hex'));

/** Below the data folder. */
export const localRoot = (data: string, { name, path }: StorageSite): string =>
  path ?? join(data, 'repositories', name);

/** Calls that change nothing: asked again when the storage died under them. */
const reads = new Set<Method>([
  'storage.hello',
  'repository.exists',
  'repository.statistics',
  'repository.check',
  'refs.list',
  'refs.get',
  'revision.resolve',
  'commits.get',
  'commits.list',
  'commits.stats',
  'commits.refs',
  'commits.merge_base',
  'commits.is_ancestor',
  'tree.list',
  'blob.at',
  'blob.get',
  'diff.files',
  'compare.across',
  'diff.raw',
  'blame.file',
  'contributors.list',
  'merge.check',
]);

/** @throws GitFailure `unavailable`, also for a storage that speaks another version */
export const greeted = async (place: Place): Promise<Connection> => {
  const connection = await openConnection(place);
  const { result } = await connection.call('storage.hello', { version: protocolVersion }, undefined, {
    seconds: 10,
  });
  const { version } = result as { version: number };
  if (version === protocolVersion) return connection;
  connection.close();
  throw gone(`the repository storage speaks version ${version}, this service ${protocolVersion}`);
};

type Channel = { connection: () => Promise<Connection>; close: () => void };

/** One connection for all calls, opened again where it broke. */
const makeChannel = (place: () => Promise<Place>): Channel => {
  let current: Promise<Connection> | null = null;
  const open = (): Promise<Connection> => {
    const next = place().then(greeted);
    next.catch(() => {
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
      if (current === last) current = null; // else another call has begun what this one was about to
      return await (current ?? open());
    },
    close: () => void current?.then((connection) => connection.close()).catch(() => undefined),
  };
};

/** Milliseconds between a process's death and our knowledge of it. */
const unaware = 50;

/** Until a connection stands, nothing has happened: where a gitd of ours has just died, the next one is asked. */
const afresh = async <T>(isOurs: boolean, connect: () => Promise<T>): Promise<T> => {
  for (let tries = isOurs ? 3 : 0; ; tries -= 1) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- only after one has failed
      return await connect();
    } catch (error) {
      if (tries === 0 || !isGitFailure(error, 'unavailable')) throw error;
      // oxlint-disable-next-line no-await-in-loop -- as above
      await wait(unaware);
    }
  }
};

type ReachParts = { name: string; isOurs: boolean; spare: SpareLine; channel: Channel };

const makeReach = ({ name, isOurs, spare, channel }: ReachParts): Reach => {
  const connect = async (): Promise<Connection> => await afresh(isOurs, channel.connection);
  return {
    name,
    call: async (method, params, body, options): Promise<Outcome> => {
      const connection = await connect();
      try {
        return await connection.call(method, params, body, options);
      } catch (error) {
        const mayRepeat = reads.has(method) && isGitFailure(error, 'unavailable') && !connection.isOpen();
        if (!mayRepeat) throw error;
        return await (await connect()).call(method, params, body, options);
      }
    },
    stream: async (stream, params, options) =>
      await afresh(isOurs, async () => await openStream(spare, stream, params, options)),
  };
};

type Opened = { reach: Reach; keeper: Keeper | null; channel: Channel; spare: SpareLine };

const openStorage = (parts: GitParts, site: StorageSite): Opened => {
  const { name, address } = site;
  const { data, readOnly = false, random, log } = parts;
  const id = (bytes: number): string => random(bytes).toString('hex');
  const keeper =
    address === null
      ? keepGitd(
          {
            root: localRoot(data, site),
            listen: readOnly ? { host: '127.0.0.1', port: 0 } : { folder: join(data, 'gitd', name) },
            readOnly,
            secret: id(32),
            onLine: (line) => log('warn', { storage: name, line }, 'gitd says'),
          },
          () => id(6),
        )
      : null;
  const { instance, secret } = parts;
  const place = async (): Promise<Place> =>
    address === null
      ? { ...(await (keeper as Keeper).place()), instance }
      : { address, secret: secret ?? '', instance };
  const channel = makeChannel(place);
  const spare = keepSpareLine(place);
  return { reach: makeReach({ name, isOurs: keeper !== null, spare, channel }), keeper, channel, spare };
};

/** Nothing is started or connected before it is used. */
export const openGit = (parts: GitParts): GitStorages => {
  const opened = new Map(parts.storages.map((site) => [site.name, openStorage(parts, site)]));
  const reachOf = (storage: string): Reach => {
    const found = opened.get(storage);
    if (found === undefined) throw gone(`the repository storage ${storage} is not configured`);
    return found.reach;
  };
  return {
    repository: (place) =>
      makeRepository(
        reachOf(place.repository_storage),
        repositoryPath(place),
        place.repository_written === 1,
      ),
    status: async (storage) => {
      const { result } = await reachOf(storage).call(
        'storage.hello',
        { version: protocolVersion },
        undefined,
        {},
      );
      return { name: storage, ...(result as Omit<StorageStatus, 'name'>) };
    },
    stop: async () => {
      for (const { channel, spare } of opened.values()) {
        channel.close();
        spare.close();
      }
      await Promise.all([...opened.values()].map(async ({ keeper }) => await keeper?.stop()));
    },
  };
};
