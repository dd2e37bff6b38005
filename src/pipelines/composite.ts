/** The one status of many jobs: of a stage, of a pipeline, of what a job waits for. Pure. */
import type { JobStatus } from '../db/schema_ci.ts';
import { endedStatuses } from '../job_statuses.ts';

export type Counted = { status: JobStatus; allow_failure: 0 | 1 };

/** `warned`: it failed and may; `ignored`: nobody has started it, and nobody waits for it. */
type Kind = JobStatus | 'warned' | 'ignored';

export type Kinds = Set<Kind>;

export const kindOf = ({ status, allow_failure }: Counted): Kind => {
  if (allow_failure === 0) return status;
  if (status === 'failed' || status === 'canceled') return 'warned';
  return status === 'manual' ? 'ignored' : status;
};

const passed: readonly Kind[] = ['skipped', 'warned', 'ignored'];

/** The first whose kinds are all there are. */
const whenOnly: readonly [JobStatus, ReadonlySet<Kind>][] = [
  ['skipped', new Set<Kind>(['skipped', 'ignored'])],
  ['success', new Set<Kind>([...passed, 'success'])],
  ['created', new Set<Kind>(['created', 'warned', 'ignored'])],
  ['canceled', new Set<Kind>([...passed, 'success', 'canceled'])],
  ['pending', new Set<Kind>([...passed, 'pending', 'created'])],
];

/** Else the first of which there is any. */
const whenAny: readonly [Kind, JobStatus][] = [
  ['canceling', 'canceling'],
  ['running', 'running'],
  ['pending', 'running'],
  ['waiting_for_resource', 'waiting_for_resource'],
  ['manual', 'manual'],
  ['scheduled', 'scheduled'],
  ['created', 'running'],
];

/** Of no jobs at all: skipped. */
export const statusOfKinds = (kinds: Kinds): JobStatus => {
  const only = whenOnly.find(([, all]) => kinds.isSubsetOf(all));
  if (only !== undefined) return only[0];
  return whenAny.find(([kind]) => kinds.has(kind))?.[1] ?? 'failed';
};

export const compositeStatus = (jobs: readonly Counted[]): JobStatus =>
  statusOfKinds(new Set(jobs.map(kindOf)));

export type EndedStatus = 'success' | 'failed' | 'canceled' | 'skipped';

export const isEnded = (status: JobStatus): status is EndedStatus => endedStatuses.includes(status);
