/** Counts the issues of a milestone by label and by assignee: those that the caller can see. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { visibleIssues } from '../../../core/access/visible.ts';
import { basicUser, basicUsersById } from '../../../identity/users/json.ts';
import type { LinkedLabel } from '../../issuables/lists/linked_labels.ts';
import type { IssueCounts } from './milestone_counts.ts';

/** The most labels and the most participants that pages show, those with the most issues. One more is returned. */
export const maxParts = 100;

type Counted = IssueCounts & { id: number };

/** Records that issues are counted by: the joined tables, the value of a group, and the id of its first record. */
type Linked = { links: RawBuilder<unknown>; by: RawBuilder<unknown>; id: RawBuilder<unknown> };

/** Labels by title: projects of a group may have labels of the same title, and lists filter by it. */
const labelsByTitle: Linked = {
  links: sql`label_links as link on link.target_type = 'Issue' and link.target_id = issues.id
      join labels on labels.id = link.label_id`,
  by: sql`labels.title`,
  id: sql`min(labels.id)`,
};

const assignees: Linked = {
  links: sql`assignees as link on link.target_type = 'Issue' and link.target_id = issues.id`,
  by: sql`link.user_id`,
  id: sql`link.user_id`,
};

/** Counts issues by records that they link to, in one statement, the most frequent first. */
const countBy = async (call: Call, milestone: number, { links, by, id }: Linked): Promise<Counted[]> => {
  const { rows } = await sql<Counted>`select ${id} as id,
      count(distinct case when issues.state = 'opened' then issues.id end) as opened,
      count(distinct case when issues.state = 'closed' then issues.id end) as closed
    from issues join projects on projects.id = issues.project_id
      join ${links}
    where issues.milestone_id = ${milestone} and ${visibleIssues(call.viewer, call.platform.store.dialect)}
    group by ${by} order by count(*) desc, ${id} limit ${sql.lit(maxParts + 1)}`.execute(call.db);
  return rows;
};

export type CountedLabel = LinkedLabel & IssueCounts;

/** Lists the labels of the issues of a milestone, with their numbers of issues. */
export const countMilestoneLabels = async (call: Call, milestone: number): Promise<CountedLabel[]> => {
  const rows = await countBy(call, milestone, labelsByTitle);
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
  const rows = await countBy(call, milestone, assignees);
  const users = await basicUsersById(
    call.db,
    rows.map(({ id }) => id),
  );
  return rows.flatMap(({ id, opened, closed }) => {
    const user = users.get(id);
    return user === undefined ? [] : [{ ...basicUser(user, call), opened, closed }];
  });
};
