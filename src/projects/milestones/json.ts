import { type Selectable, sql } from 'kysely';
import type { DatedSite } from '../../core/access/site.ts';
import { today } from '../../core/access/viewer.ts';
import type { MilestonesTable } from '../../platform/db/schema/projects.ts';
import { bool, int, nullable, object, optional, string, timestamp } from '../../platform/http/schema.ts';
import { formatTime } from '../../platform/time.ts';

/** A milestone, standalone or embedded. `project_id` or `group_id` names its owner. */
export const milestoneShape = object({
  id: int,
  iid: int,
  project_id: optional(int),
  group_id: optional(int),
  title: string,
  description: string,
  state: string,
  created_at: timestamp,
  updated_at: timestamp,
  due_date: nullable(string),
  start_date: nullable(string),
  expired: bool,
  web_url: string,
});

/** Path of the owner's pages: `group/project` or `groups/group`. */
type Owned = { owner_path: string };

export type MilestoneRow = Selectable<MilestonesTable> & Owned;

/** Selects `owner_path`, over `milestones` or this alias of the table. */
export const milestoneOwnerPath = (table: 'milestones' | 'milestone' = 'milestones') => {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  return sql<string>`case when ${column('project_id')} is null
    then 'groups/' || (select full_path from namespaces where id = ${column('group_id')})
    else (select full_path from projects where id = ${column('project_id')}) end`;
};

export const milestoneJson = (row: MilestoneRow, { baseUrl, now }: DatedSite) => ({
  id: row.id,
  iid: row.iid,
  ...(row.project_id !== null && { project_id: row.project_id }),
  ...(row.group_id !== null && { group_id: row.group_id }),
  title: row.title,
  // The contract requires a text here, never null.
  description: row.description ?? '',
  state: row.state,
  created_at: formatTime(row.created_at),
  updated_at: formatTime(row.updated_at),
  due_date: row.due_date,
  start_date: row.start_date,
  expired: row.due_date !== null && row.due_date < today(now),
  web_url: `${baseUrl}/${row.owner_path}/-/milestones/${row.iid}`,
});
