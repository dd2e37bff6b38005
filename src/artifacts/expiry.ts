/** Takes away artifacts whose time is over. */
import type { Platform } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { endedStatuses } from '../job_statuses.ts';
import { isOver } from '../jobs/kept_artifacts.ts';
import { dropLater } from '../pipelines/drop_files.ts';
import { type Payload, enqueue } from '../queue/queue.ts';
import { removeLeftBytes } from './left_bytes.ts';

/** Rows that one transaction takes. */
const batch = 500;
/** Milliseconds between two looks. */
const pause = 60_000;

/** @returns whether there may be more */
const expireSome = async ({ store, clock }: Platform): Promise<boolean> => {
  const over = await store.db
    .selectFrom('artifacts')
    .select('id')
    .where(isOver(clock.now()))
    .orderBy('expire_at')
    .limit(batch)
    .execute();
  if (over.length === 0) return false;
  const ids = over.map(({ id }) => id);
  await store.write(async (tx) => {
    // Somebody may have kept it since.
    const gone = await tx.db
      .deleteFrom('artifacts')
      .where('id', 'in', ids)
      .where(isOver(tx.now))
      .returning(['project_id', 'sha256'])
      .execute();
    for (const [project_id, rows] of Map.groupBy(gone, (row) => row.project_id)) {
      const digests = rows.map(({ sha256 }) => sha256);
      // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
      await dropLater(tx, { project_id, jobs: [], digests });
    }
  });
  return over.length === batch;
};

/** All that is over now. */
export const expireArtifacts = async (platform: Platform): Promise<void> => {
  // oxlint-disable-next-line no-await-in-loop -- one bounded transaction after another
  while (await expireSome(platform));
};

/** Looks now and then, also for what dead processes left: for that at once, too. Answers what ends it. */
export const keepExpiring = (platform: Platform): (() => Promise<void>) => {
  let running: Promise<void> | undefined;
  const look = (work: () => Promise<void>): void => {
    running ??= work()
      .catch((error: unknown) => platform.log.warn({ err: error }, 'artifacts were not looked for'))
      .finally(() => (running = undefined));
  };
  const removeLeft = async (): Promise<void> => await removeLeftBytes(platform);
  look(removeLeft);
  const lookForAll = async (): Promise<void> => {
    await removeLeft();
    await expireArtifacts(platform);
  };
  const again = (): void => look(lookForAll);
  const timer = setInterval(again, pause).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
};

export const expireProjectWork = 'artifacts.expire_project';

type Wanted = { project_id: number; before: number; after: number };

/** Lets all go that a project has by now, but for what it keeps of its newest pipelines. */
export const expireProjectLater = async (tx: Tx, wanted: Wanted): Promise<void> =>
  await enqueue(tx, expireProjectWork, wanted, {
    unique_key: `${expireProjectWork}:${wanted.project_id}:${wanted.after}`,
  });

/** A part of it: of a large project the next part is enqueued. */
export const expireProject = async (platform: Platform, payload: Payload): Promise<void> => {
  const [project_id, before, after] = ['project_id', 'before', 'after'].map((name) => Number(payload[name]));
  if (project_id === undefined || before === undefined || after === undefined) return;
  const { store } = platform;
  const rows = await store.db
    .selectFrom('artifacts')
    .innerJoin('jobs', 'jobs.id', 'artifacts.job_id')
    .select(['artifacts.id', 'artifacts.job_id'])
    .where('artifacts.project_id', '=', project_id)
    .where('artifacts.id', '>', after)
    .where('artifacts.created_at', '<=', before)
    .where('jobs.status', 'in', endedStatuses)
    .orderBy('artifacts.id')
    .limit(batch)
    .execute();
  await store.write(async (tx) => {
    await setExpired(tx, rows, before);
    const last = rows.at(-1)?.id;
    if (rows.length === batch && last !== undefined) {
      await expireProjectLater(tx, { project_id, before, after: last });
    }
  });
  await expireArtifacts(platform);
};

const setExpired = async ({ db }: Tx, rows: { id: number; job_id: number }[], at: number): Promise<void> => {
  if (rows.length === 0) return;
  const [ids, jobs] = [rows.map(({ id }) => id), [...new Set(rows.map(({ job_id }) => job_id))]];
  await db.updateTable('artifacts').set({ expire_at: at }).where('id', 'in', ids).execute();
  await db.updateTable('jobs').set({ artifacts_expire_at: at }).where('id', 'in', jobs).execute();
};
