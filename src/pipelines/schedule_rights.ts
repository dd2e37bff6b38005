/**
 * Who may do what to a schedule. Its pipelines run with the rights of its owner, so nobody else says what runs: a
 * master takes it over first.
 */
import { type Call, userOf } from '../access/call.ts';
import { may } from '../access/may.ts';
import { forbidden } from '../errors.ts';
import { type Project, findProjectFor } from '../projects/find.ts';
import { repositoryOf } from '../repository/open.ts';
import { namedRef } from './named_ref.ts';
import { admission, makerOf } from './rights.ts';
import { type Schedule, findSchedule } from './schedule_queries.ts';

const isMaster = (call: Call, project: Project): boolean => may(call.viewer, 'admin_project', project);

export const mayEdit = (call: Call, project: Project, { owner_id }: Pick<Schedule, 'owner_id'>): boolean =>
  may(call.viewer, 'admin_schedule', project) && (owner_id === userOf(call).id || call.admin);

export const mayTakeOver = (call: Call, project: Project, schedule: Schedule): boolean =>
  mayEdit(call, project, schedule) ||
  (may(call.viewer, 'admin_schedule', project) && isMaster(call, project));

export type FoundSchedule = { project: Project; schedule: Schedule };

/**
 * The schedule that the caller is to change.
 * @throws Failure 404; 403 where he may not
 */
export const findScheduleTo = async (
  call: Call,
  given: { id: number | string; pipeline_schedule_id: number },
  allows: (call: Call, project: Project, schedule: Schedule) => boolean,
): Promise<FoundSchedule> => {
  const project = await findProjectFor(call, given.id, 'admin_schedule');
  const schedule = await findSchedule(call.db, project.id, given.pipeline_schedule_id);
  if (!allows(call, project, schedule)) throw forbidden();
  return { project, schedule };
};

/**
 * That the caller may have pipelines of this ref; one that is not there yet is taken for a branch.
 * @throws Failure 403
 */
export const requireRef = async (call: Call, project: Project, text: string): Promise<void> => {
  const { platform } = call;
  const found = await namedRef(repositoryOf(platform, project), text);
  const ref = found?.ref ?? { name: text.replace(/^refs\/heads\//, ''), type: 'branch' as const };
  const maker = await makerOf(platform, userOf(call).id);
  if (maker === null || (await admission(platform, project, ref, maker)).refused !== null) throw forbidden();
};
