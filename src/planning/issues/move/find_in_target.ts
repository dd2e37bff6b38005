/** Finds the project that an issue is moved or cloned to, and the milestone of the same title there. */
import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { type Failure, isNotFound } from '../../../platform/errors.ts';
import { type Project, findProject } from '../../../projects/projects/find.ts';

/**
 * Loads the target project. A target that is hidden from the caller is refused like one without permission. A missing
 * target is refused the same way, so the answer does not reveal hidden projects. Only administrators, who see every
 * project, learn that a target is missing.
 */
export const findTargetProject = async (
  call: Call,
  id: number,
  noPermission: () => Failure,
): Promise<Project> => {
  try {
    return await findProject(call, id);
  } catch (error) {
    const isNone = isNotFound(error);
    throw isNone && !call.viewer.admin ? noPermission() : error;
  }
};

/** Returns the id of the milestone of the same title in the target project or a group above it; active ones come first. */
export const findSameMilestone = async (
  db: Reader,
  project: Project,
  title: string | undefined,
): Promise<number | null> => {
  if (title === undefined) return null;
  const { rows } = await sql<{ id: number }>`
    with recursive ancestors (id, parent_id) as (
      select id, parent_id from namespaces where id = ${project.namespace_id}
      union
      select namespaces.id, namespaces.parent_id from namespaces join ancestors on namespaces.id = ancestors.parent_id
    )
    select id from milestones where title = ${title}
      and (project_id = ${project.id} or group_id in (select id from ancestors))
    order by case state when 'active' then 0 else 1 end, case when project_id is null then 1 else 0 end, id
    limit 1`.execute(db);
  return rows[0]?.id ?? null;
};
