/** Loads the entries of a project's allowlists that the caller sees. */
import { sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { visibleProjects } from '../../core/access/visible.ts';
import { visibleGroups } from '../../identity/groups/visible.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import { type ProjectRow, projectRows } from '../projects/rows.ts';

/** Lists the allowed projects, always including the project itself. */
export const listedProjects = async (
  call: Call,
  projectId: number,
  { limit, offset }: PageRequest,
): Promise<Page<ProjectRow>> => {
  const { db, viewer, platform } = call;
  const listed = sql<boolean>`(projects.id = ${projectId} or projects.id in
    (select target_project_id from job_token_projects where project_id = ${projectId}))`;
  const seen = visibleProjects(viewer, platform.store.dialect);
  const [{ total }, items] = await Promise.all([
    db
      .selectFrom('projects')
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .where(listed)
      .where(seen)
      .executeTakeFirstOrThrow(),
    projectRows(call).where(listed).where(seen).orderBy('projects.id').limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};

type ListedGroup = { id: number; name: string; full_path: string };

export const listedGroups = async (
  { db, viewer, platform }: Call,
  projectId: number,
  { limit, offset }: PageRequest,
): Promise<Page<ListedGroup>> => {
  const query = db
    .selectFrom('namespaces')
    .where(visibleGroups(viewer, platform.store.dialect))
    .where(
      sql<boolean>`namespaces.id in (select target_group_id from job_token_groups where project_id = ${projectId})`,
    );
  const [{ total }, items] = await Promise.all([
    query.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.select(['id', 'name', 'full_path']).orderBy('id').limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};
