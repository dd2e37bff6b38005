/** Counts the issues of a milestone by label and by assignee: those that the caller can see. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { visibleIssues } from '../../../core/access/visible.ts';
import { basicUser, basicUsersById } from '../../../identity/users/json.ts';
import type { LinkedLabel } from '../../issuables/lists/linked_labels.ts';
import type { IssueCounts } from './milestone_counts.ts';

/** The most labels and the most participants that are returned, those with the most issues. */
export const maxParts = 100;

type Counted = IssueCounts & { id: number };

/** Counts issues by a record that links to them, in one statement, the most frequent first. */
const countBy = async (
  call: Call,
  milestone: number,
  { table, id }: { table: 'label_links' | 'assignees'; id: RawBuilder<unknown> },
): Promise<Counted[]> => {
  const links = sql.table(table);
  const { rows } = await sql<Counted>`select ${id} as id,
      count(case when issues.state = 'opened' then 1 end) as opened,
      count(case when issues.state = 'closed' then 1 end) as closed
    from issues join projects on projects.id = issues.project_id
      join ${links} on ${links}.target_type = 'Issue' and ${links}.target_id = issues.id
    where issues.milestone_id = ${milestone} and ${visibleIssues(call.viewer, call.platform.store.dialect)}
    group by ${id} order by count(*) desc, ${id} limit ${sql.lit(maxParts)}`.execute(call.db);
  return rows;
};

export type CountedLabel = LinkedLabel & IssueCounts;

/** Lists the labels of the issues of a milestone, with their numbers of issues. */
export const countMilestoneLabels = async (call: Call, milestone: number): Promise<CountedLabel[]> => {
  const rows = await countBy(call, milestone, { table: 'label_links', id: sql`label_links.label_id` });
  if (rows.length === 0) return [];
  const labels = await call.db
    .selectFrom('labels')
    .select(['id', 'title as name', 'color', 'description'])
    .where(
      call.platform.store.dialect.oneOf(
        'labels.id',
        rows.map(({ id }) => id),
      ),
    )
    .execute();
  const byId = new Map(labels.map((label) => [label.id, label]));
  return rows.flatMap(({ id, opened, closed }) => {
    const label = byId.get(id);
    return label === undefined ? [] : [{ ...label, opened, closed }];
  });
};

export type MilestoneParticipant = ReturnType<typeof basicUser> & IssueCounts;

/** Lists the assignees of the issues of a milestone, with their numbers of issues. */
export const listMilestoneParticipants = async (
  call: Call,
  milestone: number,
): Promise<MilestoneParticipant[]> => {
  const rows = await countBy(call, milestone, { table: 'assignees', id: sql`assignees.user_id` });
  const users = await basicUsersById(
    call.db,
    rows.map(({ id }) => id),
  );
  return rows.flatMap(({ id, opened, closed }) => {
    const user = users.get(id);
    return user === undefined ? [] : [{ ...basicUser(user, call), opened, closed }];
  });
};
