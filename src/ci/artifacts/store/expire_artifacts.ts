/** Deletes expired artifacts. */
import type { Platform } from '../../../core/platform.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { endedStatuses } from '../../../core/job_statuses.ts';
import { isExpiredArtifact } from '../../jobs/artifact_availability.ts';
import { enqueueJobFileDeletion } from '../../pipelines/enqueue_job_file_deletion.ts';
import { type Payload, enqueue } from '../../../platform/queue/enqueue.ts';
import { removeOrphanedBlobs } from './orphaned_blobs.ts';

/** Maximum rows of one transaction. */
const batch = 500;
/** Milliseconds between two runs. */
const pause = 60_000;

/** @returns whether there may be more */
const expireSome = async ({ store, clock }: Platform): Promise<boolean> => {
  const over = await store.db
    .selectFrom('artifacts')
    .select('id')
    .where(isExpiredArtifact(clock.now()))
    .orderBy('expire_at')
    .limit(batch)
    .execute();
  if (over.length === 0) return false;
  const ids = over.map(({ id }) => id);
  await store.write(async (tx) => {
    // A user may have kept an artifact in the meantime.
    const gone = await tx.db
      .deleteFrom('artifacts')
      .where('id', 'in', ids)
      .where(isExpiredArtifact(tx.now))
      .returning(['project_id', 'sha256'])
      .execute();
    for (const [project_id, rows] of Map.groupBy(gone, (row) => row.project_id)) {
      const digests = rows.map(({ sha256 }) => sha256);
      await enqueueJobFileDeletion(tx, { project_id, traces: [], digests });
    }
  });
  return over.length === batch;
};

/** Deletes everything that has expired. */
export const expireArtifacts = async (platform: Platform): Promise<void> => {
  while (await expireSome(platform));
};

/**
 * Deletes expired artifacts now and periodically, and the blobs that dead processes orphaned. Returns a function that
 * stops it.
 */
export const startExpiring = (platform: Platform): (() => Promise<void>) => {
  let running: Promise<void> | undefined;
  const run = (work: () => Promise<void>): void => {
    running ??= work()
      .catch((error: unknown) => platform.log.warn({ err: error }, 'expiring artifacts failed'))
      .finally(() => (running = undefined));
  };
  const removeOrphans = async (): Promise<void> => await removeOrphanedBlobs(platform);
  run(removeOrphans);
  const runAll = async (): Promise<void> => {
    await removeOrphans();
    await expireArtifacts(platform);
  };
  const again = (): void => run(runAll);
  const timer = setInterval(again, pause).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
};

export const expireProjectWork = 'artifacts.expire_project';

type ProjectExpiry = { project_id: number; before: number; after: number };

/** Enqueues the expiry of all artifacts that a project has now, except kept artifacts of its newest pipelines. */
export const enqueueProjectExpiry = async (tx: Tx, expiry: ProjectExpiry): Promise<void> =>
  await enqueue(tx, expireProjectWork, expiry, {
    unique_key: `${expireProjectWork}:${expiry.project_id}:${expiry.after}`,
  });

/** Expires one batch, and enqueues the next one of a large project. */
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
      await enqueueProjectExpiry(tx, { project_id, before, after: last });
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
