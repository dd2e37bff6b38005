/** Finds issues for comments, which need few of their columns. */
import { type Selectable, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { canSeeIssue, hasFeature } from '../../core/access/visible.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { IssuesTable } from '../../platform/db/schema/planning.ts';
import { notFound } from '../../platform/errors.ts';
import { findProject } from '../../projects/projects/find.ts';
import type { LoadedTarget } from '../issuables/target.ts';

const columns = [
  'id',
  'iid',
  'project_id',
  'title',
  'author_id',
  'confidential',
  'deleted_at',
  'time_estimate',
  'total_time_spent',
  'discussion_locked',
  'created_at',
] as const;

type Row = Pick<Selectable<IssuesTable>, (typeof columns)[number]> & { assigned_ids: string };

const rowByIid = compiled((db, { project_id, iid }: { project_id: number; iid: number }, dialect) => {
  const ids = dialect.jsonRows([sql.ref('assignees.user_id')], sql.ref('assignees.position'));
  return db
    .selectFrom('issues')
    .select(columns)
    .select(
      sql<string>`(select ${ids} from assignees
        where assignees.target_type = 'Issue' and assignees.target_id = issues.id)`.as('assigned_ids'),
    )
    .where('project_id', '=', project_id)
    .where('iid', '=', iid)
    .compile();
});

/** Like `findIssue`, with what comments need. */
export const findIssueTarget = async (
  call: Call,
  projectId: number | string,
  iid: number,
): Promise<LoadedTarget> => {
  const project = await findProject(call, projectId);
  if (!hasFeature(call.viewer, project, 'issues_access_level')) throw notFound();
  const [row] = await rowByIid(call.db, { project_id: project.id, iid });
  if (row === undefined) throw notFound();
  const { assigned_ids, confidential, deleted_at, discussion_locked, ...target } = row as Row;
  const assignee_ids = (JSON.parse(assigned_ids) as [number][]).flat();
  const loaded: LoadedTarget = {
    project,
    target: { type: 'Issue', ...target, assignee_ids, discussion_locked: discussion_locked === 1 },
    isVisibleTo: (viewer) =>
      canSeeIssue(viewer, project, { ...target, confidential, deleted_at, assignee_ids }),
  };
  if (!loaded.isVisibleTo(call.viewer)) throw notFound();
  return loaded;
};
