import type { Selectable } from 'kysely';
import type { Site } from '../access/call.ts';
import type { CommitStatusesTable } from '../db/schema_code.ts';
import { bool, int, nullable, number, object, string, timestamp } from '../http/schema.ts';
import { formatTime } from '../time.ts';
import { type BasicUserRow, basicUser, basicUserShape } from '../users/json.ts';

export type StatusRow = Selectable<CommitStatusesTable>;

export const statusShape = object({
  id: int,
  sha: string,
  ref: string,
  status: string,
  name: string,
  target_url: nullable(string),
  description: nullable(string),
  created_at: timestamp,
  started_at: nullable(timestamp),
  finished_at: nullable(timestamp),
  allow_failure: bool,
  coverage: nullable(number),
  pipeline_id: nullable(int),
  author: nullable(basicUserShape),
});

const timeOrNull = (time: number | null): string | null => (time === null ? null : formatTime(time));

export const statusJson = (row: StatusRow, author: BasicUserRow | undefined, site: Site) => ({
  id: row.id,
  sha: row.sha,
  ref: row.ref,
  status: row.status,
  name: row.name,
  target_url: row.target_url,
  description: row.description,
  created_at: formatTime(row.created_at),
  started_at: timeOrNull(row.started_at),
  finished_at: timeOrNull(row.finished_at),
  allow_failure: row.allow_failure === 1,
  coverage: row.coverage === null ? null : row.coverage / 100,
  pipeline_id: null,
  author: author === undefined ? null : basicUser(author, site),
});
