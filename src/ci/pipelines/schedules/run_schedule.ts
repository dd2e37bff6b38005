/**
 * Creates the pipeline of a due schedule. The creating transaction also advances `next_run_at`, so that concurrent
 * processes or a repeated run create only one pipeline.
 */
import type { Platform } from '../../../core/platform.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { type Project, loadProject } from '../../../projects/projects/find.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { type CreateResult, createPipeline } from '../creation/create_pipeline.ts';
import { computeNextRun } from './cron.ts';
import { toConfigWithInputs } from '../creation/inputs.ts';
import { type NamedRef, resolveNamedRef } from '../creation/named_ref.ts';
import { authorizePipeline, loadCreator } from '../creation/creation_rights.ts';
import type { Schedule } from './queries.ts';
import { parseStoredInputs } from './inputs.ts';
import { loadScheduleVariables } from './variables.ts';
import { enqueueNextRun } from './work.ts';

type RunOptions = { user_id: number; namedRef: NamedRef; isObsolete?: (tx: Tx) => Promise<boolean> };

const createSchedulePipeline = async (
  platform: Platform,
  project: Project,
  schedule: Schedule,
  { user_id, namedRef, isObsolete }: RunOptions,
): Promise<CreateResult> => {
  const variables = await loadScheduleVariables(platform, platform.store.db, schedule.id);
  return await createPipeline(platform, {
    project,
    ...namedRef,
    source: 'schedule',
    schedule_id: schedule.id,
    user_id,
    variables,
    ...toConfigWithInputs(project, parseStoredInputs(schedule)),
    obeysSkipMessage: false,
    onCreated: async ({ db }, last_pipeline_id) =>
      void (await db
        .updateTable('pipeline_schedules')
        .set({ last_pipeline_id })
        .where('id', '=', schedule.id)
        .execute()),
    ...(isObsolete && { isObsolete }),
  });
};

/** Runs a schedule now for a user. The next regular run does not change. */
export const playSchedule = async (
  platform: Platform,
  project: Project,
  schedule: Schedule,
  user_id: number,
): Promise<CreateResult> => {
  const namedRef = await resolveNamedRef(getRepository(platform, project), schedule.ref);
  if (namedRef === null) return { refused: 'Reference not found' };
  return await createSchedulePipeline(platform, project, schedule, { user_id, namedRef });
};

/** Claims the due run with compare-and-swap on `next_run_at`. Returns false if another process has claimed it. */
const claimRun = async (
  tx: Tx,
  { id, project_id, next_run_at }: Schedule,
  change: Partial<Pick<Schedule, 'active' | 'next_run_at'>>,
): Promise<boolean> => {
  const { numUpdatedRows } = await tx.db
    .updateTable('pipeline_schedules')
    .set(change)
    .where('id', '=', id)
    .where('active', '=', 1)
    .where('next_run_at', '=', next_run_at)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await enqueueNextRun(tx, {
    id,
    project_id,
    active: change.active ?? 1,
    next_run_at: change.next_run_at ?? null,
  });
  return true;
};

const cannotRunPipelines = ({ archived, builds_access_level, repository_access_level }: Project): boolean =>
  archived === 1 || builds_access_level === 'disabled' || repository_access_level === 'disabled';

/** Returns the owner's id if they can run the schedule; null if they cannot or no longer exist. */
const findAuthorizedOwner = async (
  platform: Platform,
  project: Project,
  { owner_id, ref }: Schedule,
  namedRef: NamedRef | null,
): Promise<number | null> => {
  const creator = owner_id === null ? null : await loadCreator(platform, owner_id);
  const target = namedRef?.ref ?? { name: ref, type: 'branch' as const };
  if (creator === null || (await authorizePipeline(platform, project, target, creator)).refused !== null)
    return null;
  return creator.id;
};

const runDue = async (platform: Platform, project: Project, schedule: Schedule): Promise<void> => {
  const { store, log, clock } = platform;
  const next_run_at = await computeNextRun(schedule, clock.now());
  const claimNextRun = async (tx: Tx): Promise<boolean> => await claimRun(tx, schedule, { next_run_at });
  if (cannotRunPipelines(project)) return void (await store.write(claimNextRun));
  const namedRef = await resolveNamedRef(getRepository(platform, project), schedule.ref);
  const user_id = await findAuthorizedOwner(platform, project, schedule, namedRef);
  const logFields = { schedule: schedule.id, project: project.id };
  if (user_id === null) {
    log.info(logFields, 'schedule disabled: its owner cannot run it');
    return void (await store.write(async (tx) => await claimRun(tx, schedule, { active: 0 })));
  }
  const run = { user_id, isObsolete: async (tx: Tx) => !(await claimNextRun(tx)) };
  const created =
    namedRef === null
      ? { refused: 'Reference not found' }
      : await createSchedulePipeline(platform, project, schedule, { ...run, namedRef });
  if ('pipeline' in created) return;
  const isClaimedElsewhere = !(await store.write(claimNextRun));
  if (!isClaimedElsewhere)
    log.info({ ...logFields, reason: created.refused }, 'schedule created no pipeline');
};

const loadActiveSchedule = async (db: Reader, id: number): Promise<Schedule | null> =>
  (await db
    .selectFrom('pipeline_schedules')
    .selectAll()
    .where('id', '=', id)
    .where('active', '=', 1)
    .where('next_run_at', 'is not', null)
    .executeTakeFirst()) ?? null;

/** Runs a schedule if it is due; otherwise enqueues its next run. */
export const runSchedule = async (platform: Platform, id: number): Promise<void> => {
  const { store, clock } = platform;
  const schedule = await loadActiveSchedule(store.db, id);
  if (schedule === null || schedule.next_run_at === null) return;
  if (schedule.next_run_at > clock.now()) {
    await store.write(async (tx) => await enqueueNextRun(tx, schedule));
    return;
  }
  const project = await loadProject(store.db, schedule.project_id);
  if (project !== null) await runDue(platform, project, schedule);
};
