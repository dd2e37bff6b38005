/** Sends calls and streams to the gitd of a storage, and repeats reads when it dies. */
import { noteReadTables } from '../db/read_tables.ts';
import { currentMeter, observed } from '../db/statement_meter.ts';
import type { RestartWait } from './await_restart.ts';
import type { Connection, Outcome } from './connection.ts';
import { isGitFailure } from './failure.ts';
import { openStream } from './open_stream.ts';
import type { Method } from './protocol_types.ts';
import type { StorageClient } from './repository.ts';
import type { SpareConnection } from './spare_connection.ts';

/** Read-only methods, which are retried if the storage dies during a call. */
const reads = new Set<Method>([
  'storage.hello',
  'repository.exists',
  'repository.statistics',
  'repository.check',
  'refs.list',
  'refs.names',
  'refs.dump',
  'refs.get',
  'revision.resolve',
  'commits.get',
  'commits.find',
  'commits.list',
  'tags.get',
  'tags.signature',
  'commits.stats',
  'commits.refs',
  'commits.ahead_behind',
  'commits.merge_base',
  'commits.is_ancestor',
  'tree.list',
  'tree.last_commits',
  'tree.languages',
  'tree.attributes',
  'blob.at',
  'blob.get',
  'blob.sizes',
  'diff.files',
  'compare.across',
  'diff.raw',
  'blame.file',
  'contributors.list',
  'merge.check',
  'merge.conflicts',
]);

export type Channel = { connection: () => Promise<Connection>; close: () => void };

/** Repositories change without a database commit, so answers that read them are not cached. */
export const noteRepositoryRead = (): void => noteReadTables(null);

/** Adds the caller of the request that runs, so that gitd gives each caller only a share of its git processes. */
const withClient = (params: object): object => {
  const client = currentMeter()?.getClient?.();
  return client === undefined ? params : { ...params, client };
};

type ClientParts = {
  name: string;
  /** Connects, also to a storage that starts again. */
  connect: RestartWait['connect'];
  spare: SpareConnection;
  channel: Channel;
};

export const makeStorageClient = ({
  name,
  connect: connectBy,
  spare,
  channel,
}: ClientParts): StorageClient => {
  return {
    name,
    call: async (method, ownParams, body, options): Promise<Outcome> => {
      const connect = async (): Promise<Connection> => await connectBy(channel.connection, options);
      noteRepositoryRead();
      const params = withClient(ownParams);
      return await observed({ kind: 'gitd', name: method }, async () => {
        const connection = await connect();
        try {
          return await connection.call(method, params, body, options);
        } catch (error) {
          const mayRepeat = reads.has(method) && isGitFailure(error, 'unavailable') && !connection.isOpen();
          if (!mayRepeat) throw error;
          return await (await connect()).call(method, params, body, options);
        }
      });
    },
    stream: async (stream, params, options) => {
      noteRepositoryRead();
      const open = async () => await openStream(spare, stream, params, options);
      const opened = await connectBy(open, options, ({ destroy }) => destroy());
      // Measures the whole transfer, including the client's speed.
      void observed({ kind: 'gitd', name: stream }, async () => await opened.result).catch(() => undefined);
      return opened;
    },
  };
};
