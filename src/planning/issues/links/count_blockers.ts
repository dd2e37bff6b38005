import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { visibleIssues } from '../../../core/access/visible.ts';

type Row = { target_id: number; total: number };

/** Counts the open issues that block each of these and that the caller sees, by id; issues without any are absent. */
export const countBlockers = async (
  { db, viewer, platform }: Call,
  ids: readonly number[],
): Promise<Map<number, number>> => {
  if (ids.length === 0) return new Map();
  const { dialect } = platform.store;
  const { rows } = await sql<Row>`select issue_links.target_id, count(*) as total
    from issue_links join issues on issues.id = issue_links.source_id join projects on projects.id = issues.project_id
    where ${dialect.oneOf('issue_links.target_id', ids)} and issue_links.link_type = 'blocks'
      and issues.state = 'opened' and ${visibleIssues(viewer, dialect)}
    group by issue_links.target_id`.execute(db);
  return new Map(rows.map(({ target_id, total }) => [target_id, total]));
};
