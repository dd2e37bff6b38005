/** Measures searches with an empty and with a complete index. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { type Bench, usualSize } from '../bench.ts';
import { openLocation } from '../sites/databases.ts';
import { type Figure, figure } from '../measured_figures.ts';
import { projectPath } from '../load/checked_requests.ts';
import { type DataLocation, type Running, startService } from '../service.ts';
import { makeIssue } from '../sites/draw_issues.ts';
import type { World } from '../sites/seed_database.ts';

const search = async (server: Running, world: World, text: string): Promise<number> => {
  const url = `http://127.0.0.1:${server.port}${projectPath(world)}?search=${encodeURIComponent(text)}`;
  const began = performance.now();
  const response = await fetch(url, { headers: { 'private-token': world.developer.token } });
  const found = (await response.json()) as unknown[];
  if (response.status !== 200 || found.length === 0) throw new Error(`nothing found: ${url}`);
  return performance.now() - began;
};

/** Returns titles of issues to search for, different in each round, because totals are cached. */
const textsOf = (bench: Bench, world: World, from: number): string[] =>
  Array.from(
    { length: bench.rounds },
    (_, round) => makeIssue((from + round) * 5, Math.ceil(world.issues * 1.25)).title,
  );

const forgetIndexed = async (location: DataLocation): Promise<void> => {
  const store = await openLocation(location);
  await store.write(async ({ db }) => await sql`update issue_search set indexed = 0`.execute(db));
  await store.close();
};

/** Returns whether all texts are indexed. PostgreSQL indexes a text when it is written. */
const isFilled = ({ data, database }: DataLocation): boolean => {
  if (database !== undefined) return true;
  const file = new DatabaseSync(join(data, 'gantry.sqlite'), { readOnly: true });
  try {
    return file.prepare('select 1 from issue_search where indexed = 0 limit 1').get() === undefined;
  } finally {
    file.close();
  }
};

const untilFilled = async (bench: Bench, location: DataLocation): Promise<number> => {
  const began = performance.now();
  while (!isFilled(location)) {
    bench.progress(`search: the index is filled, ${Math.round((performance.now() - began) / 1000)} s`);
    await wait(500);
  }
  return performance.now() - began;
};

export const measureSearch = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('search')) return [];
  const { place: location, world } = await bench.databases.take(usualSize);
  await forgetIndexed(location);
  const server = await startService(location);
  const all = async (texts: string[]): Promise<number[]> => {
    const waits: number[] = [];
    for (const text of texts) waits.push(await search(server, world, text));
    return waits;
  };
  try {
    bench.progress('search: nothing indexed');
    const [first = 0] = await all(textsOf(bench, world, 100).slice(0, 1));
    const filled = await untilFilled(bench, location);
    return [
      figure('search, nothing indexed', 'ms', [first]),
      figure('search, filling the index', 'ms', [filled]),
      figure('search, all indexed', 'ms', await all(textsOf(bench, world, 200)), bench.goals.search),
    ];
  } finally {
    await server.stop();
  }
};
