import type { Viewer } from '../../core/access/viewer.ts';
import { loadProjectViewers } from '../../core/access/project_viewers.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { Project } from '../../projects/projects/find.ts';

/** Returns the ids of users who exist and may see the record, in the order of `ids`. */
export const keepAssignable = async (
  tx: Tx,
  project: Project,
  ids: readonly number[],
  isVisibleTo: (viewer: Viewer, requested: number[]) => boolean,
): Promise<number[]> => {
  const requested = [...new Set(ids)].filter((id) => id > 0);
  const viewers = await loadProjectViewers(tx.db, project, requested, tx.now);
  return requested.filter((id) => {
    const viewer = viewers.get(id);
    return viewer !== undefined && isVisibleTo(viewer, requested);
  });
};
