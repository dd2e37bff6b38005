/**
 * Makes the pipeline of a schedule. That it is due is one row (`next_run_at`): the transaction that makes the pipeline
 * also moves it on, so that of several processes, or of two runs of the work, one makes it.
 */
import type { Platform } from '../access/call.ts';
import type { Reader, Tx } from '../db/open.ts';
import { type Project, loadProject } from '../projects/find.ts';
import { repositoryOf } from '../repository/open.ts';
import { type Created, createPipeline } from './create.ts';
import { nextRun } from './cron.ts';
import { type NamedRef, namedRef } from './named_ref.ts';
import { admission, makerOf } from './rights.ts';
import type { Schedule } from './schedule_queries.ts';
import { scheduleVariables } from './schedule_variables.ts';
import { comeBack } from './schedule_work.ts';

type Run = { user_id: number; named: NamedRef; isMade?: (tx: Tx) => Promise<boolean> };

const start = async (
  platform: Platform,
  project: Project,
  schedule: Schedule,
  { user_id, named, isMade }: Run,
): Promise<Created> => {
  const variables = await scheduleVariables(platform, platform.store.db, schedule.id);
  return await createPipeline(platform, {
    project,
    ...named,
    source: 'schedule',
    schedule_id: schedule.id,
    user_id,
    variables,
    skippable: false,
    created: async ({ db }, last_pipeline_id) =>
      void (await db
        .updateTable('pipeline_schedules')
        .set({ last_pipeline_id })
        .where('id', '=', schedule.id)
        .execute()),
    ...(isMade && { isMade }),
  });
};

/** Runs it now, for somebody who asks; when it is due does not change. */
export const playSchedule = async (
  platform: Platform,
  project: Project,
  schedule: Schedule,
  user_id: number,
): Promise<Created> => {
  const named = await namedRef(repositoryOf(platform, project), schedule.ref);
  if (named === null) return { refused: 'Reference not found' };
  return await start(platform, project, schedule, { user_id, named });
};

/** Whether this one had it to do: the schedule then is due the next time, or not at all any more. */
const claim = async (
  tx: Tx,
  { id, project_id, next_run_at }: Schedule,
  changed: Partial<Pick<Schedule, 'active' | 'next_run_at'>>,
): Promise<boolean> => {
  const { numUpdatedRows } = await tx.db
    .updateTable('pipeline_schedules')
    .set(changed)
    .where('id', '=', id)
    .where('active', '=', 1)
    .where('next_run_at', '=', next_run_at)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await comeBack(tx, {
    id,
    project_id,
    active: changed.active ?? 1,
    next_run_at: changed.next_run_at ?? null,
  });
  return true;
};

const isShut = ({ archived, builds_access_level, repository_access_level }: Project): boolean =>
  archived === 1 || builds_access_level === 'disabled' || repository_access_level === 'disabled';

/** Whoever owns it, if he may run this; null: he is gone, or may not. */
const ownerOf = async (
  platform: Platform,
  project: Project,
  { owner_id, ref }: Schedule,
  named: NamedRef | null,
): Promise<number | null> => {
  const maker = owner_id === null ? null : await makerOf(platform, owner_id);
  const meant = named?.ref ?? { name: ref, type: 'branch' as const };
  if (maker === null || (await admission(platform, project, meant, maker)).refused !== null) return null;
  return maker.id;
};

const runDue = async (platform: Platform, project: Project, schedule: Schedule): Promise<void> => {
  const { store, log, clock } = platform;
  const next_run_at = await nextRun(schedule, clock.now());
  const goOn = async (tx: Tx): Promise<boolean> => await claim(tx, schedule, { next_run_at });
  if (isShut(project)) return void (await store.write(goOn));
  const named = await namedRef(repositoryOf(platform, project), schedule.ref);
  const user_id = await ownerOf(platform, project, schedule, named);
  const about = { schedule: schedule.id, project: project.id };
  if (user_id === null) {
    log.info(about, 'a schedule was switched off: its owner may not run it');
    return void (await store.write(async (tx) => await claim(tx, schedule, { active: 0 })));
  }
  const run = { user_id, isMade: async (tx: Tx) => !(await goOn(tx)) };
  const created =
    named === null
      ? { refused: 'Reference not found' }
      : await start(platform, project, schedule, { ...run, named });
  if ('pipeline' in created) return;
  const isLost = !(await store.write(goOn));
  if (!isLost) log.info({ ...about, reason: created.refused }, 'a schedule made no pipeline');
};

const dueSchedule = async (db: Reader, id: number): Promise<Schedule | null> =>
  (await db
    .selectFrom('pipeline_schedules')
    .selectAll()
    .where('id', '=', id)
    .where('active', '=', 1)
    .where('next_run_at', 'is not', null)
    .executeTakeFirst()) ?? null;

/** The work of a schedule: its pipeline where it is due, or else a later look. */
export const runSchedule = async (platform: Platform, id: number): Promise<void> => {
  const { store, clock } = platform;
  const schedule = await dueSchedule(store.db, id);
  if (schedule === null || schedule.next_run_at === null) return;
  if (schedule.next_run_at > clock.now()) {
    await store.write(async (tx) => await comeBack(tx, schedule));
    return;
  }
  const project = await loadProject(store.db, schedule.project_id);
  if (project !== null) await runDue(platform, project, schedule);
};
