/** Lists the forks of a project into which a user may push. */
import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { levels } from '../../../core/access/levels.ts';
import { may } from '../../../core/access/may.ts';
import { anyOf } from '../../../core/access/visible.ts';
import { getSourcesAtLeast } from '../../../core/access/viewer.ts';
import { type Project, projectsById } from '../../../projects/projects/find.ts';
import { getForkNetwork } from './fork_relation.ts';

/** Forks that are offered. */
const maxForks = 20;

/**
 * Lists forks of the same network in which the user is a developer, forks of the project itself first. Administrators
 * get forks in which they are members.
 */
export const listOwnForks = async (
  { db, viewer, platform }: Pick<Call, 'db' | 'viewer' | 'platform'>,
  project: Project,
): Promise<Project[]> => {
  const { dialect } = platform.store;
  const { projects, namespaces } = getSourcesAtLeast(viewer, levels.developer);
  const places = [
    ...(projects.length > 0 ? [dialect.oneOf('projects.id', projects)] : []),
    ...(namespaces.length > 0 ? [dialect.oneOf('projects.namespace_id', namespaces)] : []),
  ];
  if (places.length === 0) return [];
  const isDirect = sql`case when projects.forked_from_project_id = ${project.id} then 0 else 1 end`;
  const { rows } = await sql<{ id: number }>`
    select id from projects where fork_network_id = ${getForkNetwork(project)} and id <> ${project.id}
      and deleted_at is null and archived = 0 and ${anyOf(places)}
    order by ${isDirect}, id limit ${maxForks}`.execute(db);
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const byId = await projectsById(db, ids);
  return ids
    .map((id) => byId.get(id))
    .filter((fork) => fork !== undefined)
    .filter((fork) => may(viewer, 'create_merge_request_from', fork));
};
