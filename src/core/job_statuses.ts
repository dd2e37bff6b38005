/** Groups of job and pipeline statuses. */
import type { JobStatus } from '../platform/db/schema/ci.ts';

type Statuses = readonly JobStatus[];

/** Ended; running again creates a new job. */
export const endedStatuses = ['success', 'failed', 'canceled', 'skipped'] as const satisfies Statuses;

export type EndedStatus = (typeof endedStatuses)[number];

export const isEnded = (status: JobStatus): status is EndedStatus =>
  (endedStatuses as Statuses).includes(status);

/** Held by a runner, including the last script of a job that is being canceled. */
export const heldStatuses: Statuses = ['running', 'canceling'];

/** Queued, running, or about to be queued without user action. */
export const activeStatuses: Statuses = [
  'created',
  'waiting_for_resource',
  'scheduled',
  'pending',
  ...heldStatuses,
];

/** Returns whether the status may still change without an action of a user. */
export const isActive = (status: JobStatus): boolean => activeStatuses.includes(status);

/** Waiting for a user to start it; delayed jobs can be started early. */
export const playableStatuses: Statuses = ['manual', 'scheduled'];

/** Can be canceled: neither ended nor being canceled. */
export const cancelableStatuses: Statuses = [
  ...activeStatuses.filter((status) => status !== 'canceling'),
  'manual',
];

/** Has run and can run again. A job that is being canceled ends alongside the new one. */
export const retryableStatuses: Statuses = ['success', 'failed', 'canceled', 'canceling'];

/** Can be replaced by a new job, even if it never ran. */
export const replaceableStatuses: Statuses = [...retryableStatuses, 'skipped'];
