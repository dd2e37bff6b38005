/** Combines the statuses of many jobs into one: of a stage, a pipeline or a job's needs. Pure. */
import type { JobStatus } from '../../../platform/db/schema/ci.ts';
import { endedStatuses } from '../../../core/job_statuses.ts';

export type StatusEntry = { status: JobStatus; allow_failure: 0 | 1 };

/** `warned`: failed with `allow_failure`; `ignored`: an optional manual job that nobody has started. */
type Kind = JobStatus | 'warned' | 'ignored';

export type Kinds = Set<Kind>;

export const toKind = ({ status, allow_failure }: StatusEntry): Kind => {
  if (allow_failure === 0) return status;
  if (status === 'failed' || status === 'canceled') return 'warned';
  return status === 'manual' ? 'ignored' : status;
};

const harmless: readonly Kind[] = ['skipped', 'warned', 'ignored'];

/** The first entry whose set contains every kind present decides. */
const statusesByAllKinds: readonly [JobStatus, ReadonlySet<Kind>][] = [
  ['skipped', new Set<Kind>(['skipped', 'ignored'])],
  ['success', new Set<Kind>([...harmless, 'success'])],
  ['created', new Set<Kind>(['created', 'warned', 'ignored'])],
  ['canceled', new Set<Kind>([...harmless, 'success', 'canceled'])],
  ['pending', new Set<Kind>([...harmless, 'pending', 'created'])],
];

/** Otherwise the first kind that is present decides. */
const statusesByAnyKind: readonly [Kind, JobStatus][] = [
  ['canceling', 'canceling'],
  ['running', 'running'],
  ['pending', 'running'],
  ['waiting_for_resource', 'waiting_for_resource'],
  ['manual', 'manual'],
  ['scheduled', 'scheduled'],
  ['created', 'running'],
];

/** Combines kinds into a status; `skipped` if there are none. */
export const combineKinds = (kinds: Kinds): JobStatus => {
  const match = statusesByAllKinds.find(([, all]) => kinds.isSubsetOf(all));
  if (match !== undefined) return match[0];
  return statusesByAnyKind.find(([kind]) => kinds.has(kind))?.[1] ?? 'failed';
};

export const combineStatuses = (jobs: readonly StatusEntry[]): JobStatus =>
  combineKinds(new Set(jobs.map(toKind)));

export type EndedStatus = 'success' | 'failed' | 'canceled' | 'skipped';

export const isEnded = (status: JobStatus): status is EndedStatus => endedStatuses.includes(status);
