import type { Selectable } from 'kysely';
import type { JobsTable } from '../../platform/db/schema/ci.ts';

/** The columns of a job for output and decisions, without its configuration and token. */
export const jobColumns = [
  'jobs.id',
  'jobs.project_id',
  'jobs.pipeline_id',
  'jobs.stage',
  'jobs.stage_position',
  'jobs.name',
  'jobs.ref',
  'jobs.tag',
  'jobs.status',
  'jobs.run_when',
  'jobs.allow_failure',
  'jobs.retried',
  'jobs.bridge',
  'jobs.protected',
  'jobs.user_id',
  'jobs.runner_id',
  'jobs.tag_list',
  'jobs.coverage',
  'jobs.failure_reason',
  'jobs.exit_code',
  'jobs.created_at',
  'jobs.queued_at',
  'jobs.started_at',
  'jobs.finished_at',
  'jobs.cancelled_at',
  'jobs.erased_at',
  'jobs.artifacts_expire_at',
  'jobs.trace_size',
  'jobs.trace_key',
  'jobs.debug_trace',
  'jobs.environment',
  'jobs.timeout',
  'jobs.scheduled_at',
  'jobs.retry_of_id',
] as const;

type Column = (typeof jobColumns)[number] extends `jobs.${infer Name}` ? Name : never;

export type JobRow = Pick<Selectable<JobsTable>, Column>;
