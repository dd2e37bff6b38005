/** Converts a pipeline to the short JSON that commits and merge requests show. */
import type { Selectable } from 'kysely';
import type { JobStatus, PipelinesTable } from '../../../platform/db/schema/ci.ts';
import { int, nullable, object, string, timestamp } from '../../../platform/http/schema.ts';
import { formatTime } from '../../../platform/time.ts';

export type PipelineRow = Selectable<PipelinesTable>;

const shownInstead: Partial<Record<JobStatus, JobStatus>> = {
  waiting_for_resource: 'created',
  scheduled: 'created',
  canceling: 'canceled',
};

/** Returns the API status of a pipeline or job: internal statuses are mapped to public statuses. */
export const shownStatus = (status: JobStatus): JobStatus => shownInstead[status] ?? status;

/** Returns all stored statuses that are shown as this API status. */
export const statusesShownAs = (shown: JobStatus): JobStatus[] => [
  shown,
  ...(Object.keys(shownInstead) as JobStatus[]).filter((status) => shownInstead[status] === shown),
];

export const pipelineUrl = (baseUrl: string, projectPath: string, id: number): string =>
  `${baseUrl}/${projectPath}/-/pipelines/${id}`;

/** @param projectUrl URL of the project's page */
export const jobUrl = (projectUrl: string, id: number): string => `${projectUrl}/-/jobs/${id}`;

export const briefPipelineShape = object({
  id: int,
  iid: int,
  project_id: int,
  sha: string,
  ref: string,
  status: string,
  source: string,
  name: nullable(string),
  created_at: timestamp,
  updated_at: timestamp,
  web_url: string,
});

/** @param site base URL, and the full path of the pipeline's project */
export const briefPipelineJson = (row: PipelineRow, site: { baseUrl: string; full_path: string }) => ({
  id: row.id,
  iid: row.iid,
  project_id: row.project_id,
  sha: row.sha,
  ref: row.ref,
  status: shownStatus(row.status),
  source: row.source,
  name: row.name,
  created_at: formatTime(row.created_at),
  updated_at: formatTime(row.updated_at),
  web_url: pipelineUrl(site.baseUrl, site.full_path, row.id),
});
