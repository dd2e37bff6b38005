/** Locks between the processes of one service that last longer than a transaction. */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import type { EngineParts, OpenOptions } from '../engine.ts';
import { connectionName } from '../process_name.ts';
import { getConnectTimeout } from './connect_timeout.ts';

/** First number of the advisory locks; the second is derived from the schema and the lock's name. */
const lockSpace = 6_781_205;

const pollMilliseconds = 200;

/**
 * Creates `runExclusively`. The lock belongs to a separate connection, so that it ends with the process. It is polled,
 * because a waiting statement would hold a snapshot that blocks `create index concurrently`.
 */
export const makeRunExclusively =
  ({ url, schema }: OpenOptions): EngineParts['runExclusively'] =>
  async (name, work, onWait = () => undefined) => {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: getConnectTimeout(url),
      keepAlive: true,
      application_name: connectionName,
    });
    client.on('error', () => undefined); // the server then releases the lock
    const isFree = async (): Promise<boolean> => {
      const { rows } = await client.query<{ taken: boolean }>(
        'select pg_try_advisory_lock($1, hashtext($2)) as taken',
        [lockSpace, `${schema} ${name}`],
      );
      return rows[0]?.taken === true;
    };
    await client.connect();
    try {
      for (let polls = 0; !(await isFree()); polls += 1) {
        if (polls === 0) onWait();
        await wait(pollMilliseconds);
      }
      return await work();
    } finally {
      await client.end();
    }
  };
