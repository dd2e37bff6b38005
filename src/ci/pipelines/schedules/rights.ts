/**
 * Authorization of schedules. Pipelines run with the permissions of the schedule's owner, so only the owner may edit
 * it. A master takes over ownership first.
 */
import { type Call, requireUser } from '../../../core/access/call.ts';
import { may } from '../../../core/access/may.ts';
import { forbidden } from '../../../platform/errors.ts';
import { type Project, findProjectFor } from '../../../projects/projects/find.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { resolveNamedRef } from '../creation/named_ref.ts';
import { authorizePipeline, loadCreator } from '../creation/creation_rights.ts';
import { type Schedule, findSchedule } from './queries.ts';

const isMaster = (call: Call, project: Project): boolean => may(call.viewer, 'admin_project', project);

export const canEditSchedule = (
  call: Call,
  project: Project,
  { owner_id }: Pick<Schedule, 'owner_id'>,
): boolean =>
  may(call.viewer, 'admin_schedule', project) && (owner_id === requireUser(call).id || call.admin);

export const canTakeOverSchedule = (call: Call, project: Project, schedule: Schedule): boolean =>
  canEditSchedule(call, project, schedule) ||
  (may(call.viewer, 'admin_schedule', project) && isMaster(call, project));

export type LoadedSchedule = { project: Project; schedule: Schedule };

/**
 * Finds a schedule that the caller wants to change.
 * @throws Failure 404; 403 if `isAllowed` returns false
 */
export const findScheduleToChange = async (
  call: Call,
  ids: { id: number | string; pipeline_schedule_id: number },
  isAllowed: (call: Call, project: Project, schedule: Schedule) => boolean,
): Promise<LoadedSchedule> => {
  const project = await findProjectFor(call, ids.id, 'admin_schedule');
  const schedule = await findSchedule(call.db, project.id, ids.pipeline_schedule_id);
  if (!isAllowed(call, project, schedule)) throw forbidden();
  return { project, schedule };
};

/**
 * Requires that the caller can create pipelines on this ref. A missing ref counts as a branch.
 * @throws Failure 403
 */
export const requireRunnableRef = async (call: Call, project: Project, text: string): Promise<void> => {
  const { platform } = call;
  const namedRef = await resolveNamedRef(getRepository(platform, project), text);
  const ref = namedRef?.ref ?? { name: text.replace(/^refs\/heads\//, ''), type: 'branch' as const };
  const creator = await loadCreator(platform, requireUser(call).id);
  if (creator === null || (await authorizePipeline(platform, project, ref, creator)).refused !== null)
    throw forbidden();
};
