import type { Call } from '../access/call.ts';
import { visibleProjects } from '../access/visible.ts';

/** A project that others were forked from. */
export type Parent = Awaited<ReturnType<typeof select>>[number];

const select = async ({ db, viewer, platform }: Call, ids: number[]) =>
  await db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select([
      'projects.id',
      'projects.name',
      'projects.path',
      'projects.full_path',
      'projects.description',
      'projects.default_branch',
      'projects.created_at',
      'namespaces.name as namespace_name',
    ])
    .where(platform.store.words.oneOf('projects.id', ids))
    .where(visibleProjects(viewer, platform.store.words))
    .execute();

/** What these were forked from, as far as the caller sees it, in one statement. */
export const parentsOf = async (
  call: Call,
  forks: readonly { forked_from_project_id: number | null }[],
): Promise<Map<number, Parent>> => {
  const ids = new Set(forks.map((fork) => fork.forked_from_project_id).filter((id) => id !== null));
  const rows = ids.size === 0 ? [] : await select(call, [...ids]);
  return new Map(rows.map((row) => [row.id, row]));
};
