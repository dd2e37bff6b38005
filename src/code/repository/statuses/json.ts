import type { Selectable } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import type { Site } from '../../../core/access/site.ts';
import type { JobStatus } from '../../../platform/db/schema/ci.ts';
import type { CommitStatusesTable } from '../../../platform/db/schema/code.ts';
import { bool, int, nullable, number, object, string, timestamp } from '../../../platform/http/schema.ts';
import { formatTime, formatTimeOrNull } from '../../../platform/time.ts';
import { type BasicUserRow, basicUser, basicUserShape } from '../../../identity/users/json.ts';
import { type Code, getWebUrl } from '../find_code.ts';
import { jobUrl, shownStatus } from './pipeline_summary.ts';

export type StatusRow = Selectable<CommitStatusesTable>;

/** A listed status: reported by an external system, or of a pipeline's job. */
export type ListedStatus = Omit<StatusRow, 'project_id' | 'sha' | 'status' | 'author_id' | 'retried'> & {
  status: JobStatus;
  author_id: number | null;
  /** 0: reported by an external system. */
  of_job: 0 | 1;
};

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

/** Returns the context of status JSON: settings and URLs. */
export const toStatusContext = ({ baseUrl, settings }: Call, { project }: Code) => ({
  baseUrl,
  settings,
  projectUrl: getWebUrl({ baseUrl }, project),
});

/** @param context context with the URL of the project's page */
export const statusJson = (
  row: ListedStatus,
  { sha, author }: { sha: string; author: BasicUserRow | undefined },
  context: Site & { projectUrl: string },
) => ({
  id: row.id,
  sha,
  ref: row.ref,
  status: shownStatus(row.status) as string,
  name: row.name,
  target_url: row.of_job === 0 ? row.target_url : jobUrl(context.projectUrl, row.id),
  description: row.description,
  created_at: formatTime(row.created_at),
  started_at: formatTimeOrNull(row.started_at),
  finished_at: formatTimeOrNull(row.finished_at),
  allow_failure: row.allow_failure === 1,
  coverage: row.coverage === null ? null : row.coverage / 100,
  pipeline_id: row.pipeline_id,
  author: author === undefined ? null : basicUser(author, context),
});
