/** What becomes of environments behind the requests. Every step may be done twice. */
import type { Platform } from '../access/call.ts';
import { type Values, expandKnown } from '../ci_file/expand.ts';
import type { Store } from '../db/open.ts';
import { type WorkHandler, enqueue } from '../queue/queue.ts';
import { unsealValue } from '../variables/queries.ts';
import { addressOf, environmentOfJob } from './config.ts';
import { isAddress } from './rules.ts';
import { type PlayJobs, stopInTime } from './stop.ts';
import { stopWork, urlWork } from './work_names.ts';

/** What a job told of itself, in its dotenv report. */
const toldBy = async (platform: Platform, jobId: number): Promise<Values> => {
  const rows = await platform.store.db
    .selectFrom('job_variables')
    .select(['key', 'sealed_value'])
    .where('job_id', '=', jobId)
    .where('source', '=', 'dotenv')
    .execute();
  return Object.fromEntries(rows.map(({ key, sealed_value }) => [key, unsealValue(platform, sealed_value)]));
};

type Play = Pick<PlayJobs, 'play' | 'mayRun'>;

const stopWhenDue = async (store: Store, id: number, jobs: Play): Promise<void> => {
  await store.write(async (tx) => {
    const row = await tx.db
      .selectFrom('environments')
      .selectAll()
      .where('id', '=', id)
      .where('state', '=', 'available')
      .executeTakeFirst();
    if (row === undefined || row.auto_stop_at === null) return;
    if (row.auto_stop_at > tx.now) {
      const later = { unique_key: `${stopWork}:${id}`, run_at: row.auto_stop_at };
      await enqueue(tx, stopWork, { environment_id: id }, later);
      return;
    }
    await stopInTime(tx, row, jobs);
  });
};

const findAddress = async (
  platform: Platform,
  { environment_id, job_id }: { environment_id: number; job_id: number },
): Promise<void> => {
  const { store } = platform;
  const job = await store.db
    .selectFrom('jobs')
    .innerJoin('job_configs', 'job_configs.id', 'jobs.config_id')
    .select('job_configs.config')
    .where('jobs.id', '=', job_id)
    .executeTakeFirst();
  const environment = job === undefined ? null : environmentOfJob(job.config);
  const url = environment === null ? null : addressOf(environment);
  if (url === null) return;
  const external_url = expandKnown(url, await toldBy(platform, job_id));
  if (external_url.includes('$') || !isAddress(external_url)) return;
  await store.write(
    async ({ db, now }) =>
      await db
        .updateTable('environments')
        .set({ external_url, updated_at: now })
        .where('id', '=', environment_id)
        .execute(),
  );
};

/** @param jobs how one is played: jobs stand behind environments */
export const environmentWork = (platform: Platform, jobs: Play): { [name: string]: WorkHandler } => ({
  [stopWork]: async ({ environment_id }) => await stopWhenDue(platform.store, Number(environment_id), jobs),
  [urlWork]: async ({ environment_id, job_id }) =>
    await findAddress(platform, { environment_id: Number(environment_id), job_id: Number(job_id) }),
});
