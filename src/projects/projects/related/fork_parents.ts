import type { Call } from '../../../core/access/call.ts';
import { visibleProjects } from '../../../core/access/visible.ts';
import { type ProjectRow, projectRows } from '../rows.ts';

/** Loads the visible projects that these were forked from, in one statement. */
export const loadForkParents = async (
  call: Call,
  forks: readonly { forked_from_project_id: number | null }[],
): Promise<Map<number, ProjectRow>> => {
  const ids = new Set(forks.map((fork) => fork.forked_from_project_id).filter((id) => id !== null));
  if (ids.size === 0) return new Map();
  const { dialect } = call.platform.store;
  const rows = await projectRows(call)
    .where(dialect.oneOf('projects.id', [...ids]))
    .where(visibleProjects(call.viewer, dialect))
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
};
