import type { Selectable } from 'kysely';
import type { MilestonesTable } from '../db/schema.ts';
import { int, nullable, object, optional, string, timestamp } from '../http/schema.ts';
import { formatTime } from '../time.ts';

/** A milestone, alone or embedded: `project_id` of a project's, `group_id` of a group's. */
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
});

export type MilestoneRow = Selectable<MilestonesTable>;

export const milestoneJson = (row: MilestoneRow) => ({
  id: row.id,
  iid: row.iid,
  ...(row.project_id !== null && { project_id: row.project_id }),
  ...(row.group_id !== null && { group_id: row.group_id }),
  title: row.title,
  // The contract has a text here, never null.
  description: row.description ?? '',
  state: row.state,
  created_at: formatTime(row.created_at),
  updated_at: formatTime(row.updated_at),
  due_date: row.due_date,
  start_date: row.start_date,
});
