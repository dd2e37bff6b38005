/** Loads what pages show of the merge requests that pipelines run for. */
import type { Call } from '../../core/access/call.ts';
import { visibleMergeRequests } from '../../core/access/visible.ts';

export type RequestLink = {
  id: number;
  iid: number;
  title: string;
  source_branch: string;
  /** Path of the target project. */
  full_path: string;
};

/** Loads the merge requests of these ids that the caller may see, by id. */
export const loadRequestLinks = async (
  { db, viewer, platform }: Pick<Call, 'db' | 'viewer' | 'platform'>,
  ids: Iterable<number | null>,
): Promise<ReadonlyMap<number, RequestLink>> => {
  const { dialect } = platform.store;
  const requested = [...new Set(ids)].filter((id) => id !== null);
  if (requested.length === 0) return new Map();
  const rows = await db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .select([
      'merge_requests.id',
      'merge_requests.iid',
      'merge_requests.title',
      'merge_requests.source_branch',
      'projects.full_path',
    ])
    .where(dialect.oneOf('merge_requests.id', requested))
    .where(visibleMergeRequests(viewer, dialect))
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
};
