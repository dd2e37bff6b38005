/** Creates a database of each size once per run, and copies of it for each measurement. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type Store, openStore } from '../../src/platform/db/open.ts';
import { type DataLocation, startService } from '../service.ts';
import { type World, fillWorld } from './seed_database.ts';

export type Databases = {
  /** A private copy of a database, with its contents. */
  take: (issues: number) => Promise<{ place: DataLocation; world: World }>;
  /** A folder in which nothing was started yet. */
  empty: () => Promise<DataLocation>;
  remove: () => void;
};

const schema = 'gantry';

/** On PostgreSQL each world is a database, which the server copies. */
type Server = { url: string };

const databaseUrl = ({ url }: Server, name: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
};

const execute = async (server: Server, statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(statement);
  await client.end();
};

export const openLocation = async ({ data, database }: DataLocation): Promise<Store> =>
  await openStore(
    {
      file: join(data, 'gantry.sqlite'),
      ...(database && { url: database.url }),
      schema,
      connections: 2,
      onFatal: (error) => {
        throw error;
      },
    },
    { now: () => Date.UTC(2018, 0, 1) },
  );

/** @property checkout of which the service makes the databases: an older one, so that both can open them */
type Making = { progress: (text: string) => void; checkout: string | null };

export const makeDatabases = (server: Server | null, { progress, checkout }: Making): Databases => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-bench-'));
  const made = new Map<number, { place: DataLocation; world: World }>();
  let copies = 0;

  const place = async (name: string, template: string): Promise<DataLocation> => {
    const data = join(folder, name, 'data');
    mkdirSync(data, { recursive: true, mode: 0o700 });
    if (server === null) return { data };
    await execute(server, `create database ${name} template ${template}`);
    return { data, database: { url: databaseUrl(server, name), schema } };
  };

  const make = async (issues: number): Promise<{ place: DataLocation; world: World }> => {
    const own = await place(`world_${issues}`, 'template0');
    const running = await startService(own, { checkout });
    await running.stop();
    const store = await openLocation(own);
    try {
      const show = (share: number): void => progress(`making ${issues} issues: ${Math.round(share * 100)} %`);
      return { place: own, world: await fillWorld(store, issues, show) };
    } finally {
      await store.close();
    }
  };

  const empty = async (): Promise<DataLocation> => {
    copies += 1;
    return await place(`copy_${copies}`, 'template0');
  };

  const take = async (issues: number): Promise<{ place: DataLocation; world: World }> => {
    const base = made.get(issues) ?? (await make(issues));
    made.set(issues, base);
    copies += 1;
    const copy = await place(`copy_${copies}`, `world_${issues}`);
    cpSync(base.place.data, copy.data, { recursive: true });
    return { place: copy, world: base.world };
  };

  return { take, empty, remove: () => rmSync(folder, { recursive: true, force: true }) };
};
