/**
 * Hides internal notes from users below the reporter role, and `mentioned in` notes from users who cannot see the
 * mentioning record.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Viewer } from '../../core/access/viewer.ts';
import {
  allOf,
  readableCode,
  visibleInternalNotes,
  visibleIssues,
  visibleMergeRequests,
} from '../../core/access/visible.ts';
import { getDialect } from '../../platform/db/compiled_query.ts';
import type { SqlDialect } from '../../platform/db/engine.ts';
import type { Reader } from '../../platform/db/open.ts';

const visibleMentions = (viewer: Viewer, dialect: SqlDialect): RawBuilder<boolean> => {
  const by = (type: string) => sql`notes.mentioned_by_type = ${sql.lit(type)}`;
  return sql<boolean>`(notes.mentioned_by_type is null
    or (${by('Issue')} and exists (
      select 1 from issues join projects on projects.id = issues.project_id
      where issues.id = notes.mentioned_by_id and ${visibleIssues(viewer, dialect)}))
    or (${by('MergeRequest')} and exists (
      select 1 from merge_requests join projects on projects.id = merge_requests.project_id
      where merge_requests.id = notes.mentioned_by_id and ${visibleMergeRequests(viewer, dialect)}))
    or (${by('Commit')} and exists (
      select 1 from projects
      where projects.id = notes.mentioned_by_project_id and ${readableCode(viewer, dialect)})))`;
};

/** SQL condition over `notes` of a target that the viewer sees. */
export const visibleNotes = (db: Reader, viewer: Viewer): RawBuilder<boolean> => {
  const dialect = getDialect(db);
  return allOf([visibleInternalNotes(viewer, dialect), visibleMentions(viewer, dialect)]);
};
