import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { visibleIssues } from '../../../core/access/visible.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';

type Row = { target_id: number; total: number };

/** Most pages have none, and this statement is compiled once. */
const selectBlocked = compiled((db, { ids }: { ids: readonly number[] }, dialect) =>
  db
    .selectFrom('issue_links')
    .select('target_id')
    .distinct()
    .where(dialect.oneOf('target_id', ids))
    .where('link_type', '=', 'blocks')
    .compile(),
);

/** Counts the open issues that block each of these and that the caller sees, by id; issues without any are absent. */
export const countBlockers = async (
  { db, viewer, platform }: Call,
  ids: readonly number[],
): Promise<Map<number, number>> => {
  if (ids.length === 0) return new Map();
  const blocked = (await selectBlocked(db, { ids })).map(({ target_id }) => target_id);
  if (blocked.length === 0) return new Map();
  const { dialect } = platform.store;
  const { rows } = await sql<Row>`select issue_links.target_id, count(*) as total
    from issue_links join issues on issues.id = issue_links.source_id join projects on projects.id = issues.project_id
    where ${dialect.oneOf('issue_links.target_id', blocked)} and issue_links.link_type = 'blocks'
      and issues.state = 'opened' and ${visibleIssues(viewer, dialect)}
    group by issue_links.target_id`.execute(db);
  return new Map(rows.map(({ target_id, total }) => [target_id, total]));
};
