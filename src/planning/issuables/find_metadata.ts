/** Finds the labels and the milestone that `/copy_metadata` copies from another issue or merge request. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { canSeeMergeRequests, hasFeature, visibleIssuesIn } from '../../core/access/visible.ts';
import type { Project } from '../../projects/projects/find.ts';
import { type Reference, referencesIn } from './text/references.ts';

type Metadata = { labels: string[]; milestone_id: number | null };
type Source = { id: number; milestone_id: number | null };

/** Selects the record that is named, if the caller may see it. */
const selectSource = (
  { viewer }: Call,
  project: Project,
  { type, iid }: Reference,
): RawBuilder<Source> | null => {
  if (type === 'MergeRequest') {
    if (!canSeeMergeRequests(viewer, project)) return null;
    return sql<Source>`select id, milestone_id from merge_requests
      where project_id = ${project.id} and iid = ${iid} and deleted_at is null`;
  }
  if (!hasFeature(viewer, project, 'issues_access_level')) return null;
  return sql<Source>`select id, milestone_id from issues
    where ${visibleIssuesIn(viewer, project)} and iid = ${iid}`;
};

/** @param argument `#12` or `!12`, of the same project @returns null if the caller sees no such record */
export const findMetadata = async (
  call: Call,
  project: Project,
  argument: string,
): Promise<Metadata | null> => {
  const site = { baseUrl: call.baseUrl, project: project.full_path };
  const [reference] = referencesIn(argument, site);
  if (reference === undefined || reference.project !== project.full_path.toLowerCase()) return null;
  const source = await selectSource(call, project, reference)?.execute(call.db);
  const [record] = source?.rows ?? [];
  if (record === undefined) return null;
  const rows = await call.db
    .selectFrom('label_links')
    .innerJoin('labels', 'labels.id', 'label_links.label_id')
    .select('labels.title')
    .where('target_type', '=', reference.type)
    .where('target_id', '=', record.id)
    .orderBy('labels.title')
    .execute();
  return { labels: rows.map(({ title }) => title), milestone_id: record.milestone_id };
};
