import type { Viewer } from '../access/viewer.ts';
import { viewersOfProject } from '../access/viewers_of.ts';
import type { Tx } from '../db/open.ts';
import type { Project } from '../projects/find.ts';

/** Ids of those who exist and may see the record, in the order given. */
export const assignable = async (
  tx: Tx,
  project: Project,
  ids: readonly number[],
  isVisibleTo: (viewer: Viewer, wanted: number[]) => boolean,
): Promise<number[]> => {
  const wanted = [...new Set(ids)].filter((id) => id > 0);
  const viewers = await viewersOfProject(tx.db, project, wanted, tx.now);
  return wanted.filter((id) => {
    const viewer = viewers.get(id);
    return viewer !== undefined && isVisibleTo(viewer, wanted);
  });
};
