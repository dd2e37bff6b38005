/** A pipeline as commits and merge requests show it. */
import type { Selectable } from 'kysely';
import type { JobStatus, PipelinesTable } from '../db/schema_ci.ts';
import { int, nullable, object, string, timestamp } from '../http/schema.ts';
import { formatTime } from '../time.ts';

export type PipelineRow = Selectable<PipelinesTable>;

const shownInstead: Partial<Record<JobStatus, JobStatus>> = {
  waiting_for_resource: 'created',
  scheduled: 'created',
  canceling: 'canceled',
};

/** The status as the API has it, of a pipeline or a job: inner ones have another one's name. */
export const shownStatus = (status: JobStatus): JobStatus => shownInstead[status] ?? status;

/** The inner statuses behind one of the API. */
export const statusesShownAs = (shown: JobStatus): JobStatus[] => [
  shown,
  ...(Object.keys(shownInstead) as JobStatus[]).filter((status) => shownInstead[status] === shown),
];

export const pipelineUrl = (baseUrl: string, projectPath: string, id: number): string =>
  `${baseUrl}/${projectPath}/-/pipelines/${id}`;

/** @param projectUrl the project's page */
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

/** @param site with the full path of its project */
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
