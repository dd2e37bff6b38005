/**
 * A limited number of slots shared by all processes of the service. Each slot is an advisory lock of one connection, so
 * nothing is written, and the slots of a process are released when it exits.
 */
import pg from 'pg';
import { withMutex } from '../../keyed_mutex.ts';
import type { EngineParts, OpenOptions } from '../engine.ts';
import { connectionName } from '../process_name.ts';
import { getConnectTimeout } from './connect_timeout.ts';

type Holder = {
  client: pg.Client;
  /** Slots of this process, by name: PostgreSQL would grant a lock again to its holder. */
  held: Map<string, Set<number>>;
};

export type SharedPlaces = Pick<EngineParts, 'takePlace'> & { close: () => Promise<void> };

const openHolder = async ({ url }: OpenOptions, onEnd: () => void): Promise<Holder> => {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: getConnectTimeout(url),
    keepAlive: true,
    application_name: connectionName,
  });
  client.on('error', () => undefined); // `end` follows
  client.once('end', onEnd);
  await client.connect();
  return { client, held: new Map() };
};

// The inner query is run first, so that no lock is asked for that the process holds.
const findFree = `select place from (
    select place from generate_series(1, $2::int) as place where place <> all ($3::int[]) offset 0
  ) as free where pg_try_advisory_lock(hashtext($1), place) limit 1`;

export const makeSharedPlaces = (options: OpenOptions): SharedPlaces => {
  let holder: Promise<Holder> | null = null;
  const getHolder = async (): Promise<Holder> => {
    if (holder === null) {
      const next: Promise<Holder> = openHolder(options, () => {
        if (holder === next) holder = null;
      });
      next.catch(() => {
        if (holder === next) holder = null;
      });
      holder = next;
    }
    return await holder;
  };

  const release = async ({ client, held }: Holder, name: string, place: number): Promise<void> => {
    const places = held.get(name);
    await client
      .query('select pg_advisory_unlock(hashtext($1), $2::int)', [name, place])
      .catch(() => undefined);
    places?.delete(place);
    if (places?.size === 0) held.delete(name);
  };

  return {
    takePlace: async (place, count) => {
      const name = `gantry ${options.schema} ${place}`;
      const inTurn = async (): Promise<(() => void) | null> => {
        const mine = await getHolder();
        const places = mine.held.get(name) ?? new Set();
        mine.held.set(name, places);
        const { rows } = await mine.client.query<{ place: number }>(findFree, [name, count, [...places]]);
        const [taken] = rows;
        if (taken === undefined) return null;
        places.add(taken.place);
        return () => void withMutex(options, name, async () => await release(mine, name, taken.place));
      };
      return await withMutex(options, name, inTurn);
    },
    close: async () => {
      const last = holder;
      holder = null;
      await last?.then(
        async ({ client }) => await client.end(),
        () => undefined,
      );
    },
  };
};
