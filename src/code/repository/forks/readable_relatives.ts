/** Lists the projects of a fork network whose code a viewer may read. */
import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { readableCode } from '../../../core/access/visible.ts';
import { type Project, projectsById } from '../../../projects/projects/find.ts';
import { getForkNetwork } from './fork_relation.ts';

/** Projects that are offered. */
const maxRelatives = 50;

/** Lists other projects of the fork network: first the upstream project, then the project's forks. */
export const listReadableRelatives = async (
  { db, viewer, platform }: Pick<Call, 'db' | 'viewer' | 'platform'>,
  project: Project,
): Promise<Project[]> => {
  const { id, forked_from_project_id: parent } = project;
  const network = getForkNetwork(project);
  const rank = sql`case when projects.id = ${parent ?? 0} then 0
    when projects.forked_from_project_id = ${id} then 1 else 2 end`;
  const { rows } = await sql<{ id: number }>`
    select projects.id from projects
    where (projects.fork_network_id = ${network} or projects.id = ${network}) and projects.id <> ${id}
      and projects.deleted_at is null and ${readableCode(viewer, platform.store.dialect)}
    order by ${rank}, projects.id limit ${maxRelatives}`.execute(db);
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const byId = await projectsById(db, ids);
  return ids.map((one) => byId.get(one)).filter((one) => one !== undefined);
};
