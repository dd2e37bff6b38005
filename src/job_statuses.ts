/** What the statuses of jobs, and of pipelines, have in common: each fact once. */
import type { JobStatus } from './db/schema_ci.ts';

type Statuses = readonly JobStatus[];

/** It is over: what comes after it takes another's place. */
export const endedStatuses: Statuses = ['success', 'failed', 'canceled', 'skipped'];

/** A runner has it: the last script of one that is being cancelled runs still. */
export const heldStatuses: Statuses = ['running', 'canceling'];

/** It has a place in the queue, or will have one without anybody's doing. */
export const activeStatuses: Statuses = [
  'created',
  'waiting_for_resource',
  'scheduled',
  'pending',
  ...heldStatuses,
];

/** It waits for somebody to start it; a delayed one may be started before its time. */
export const playableStatuses: Statuses = ['manual', 'scheduled'];

/** It may be cancelled: it is not over, nor being cancelled. */
export const cancelableStatuses: Statuses = [
  ...activeStatuses.filter((status) => status !== 'canceling'),
  'manual',
];

/** It has run, and may run again: one that is being cancelled ends beside the new one. */
export const retryableStatuses: Statuses = ['success', 'failed', 'canceled', 'canceling'];

/** A new one may take its place, also of one that never ran. */
export const replaceableStatuses: Statuses = [...retryableStatuses, 'skipped'];
