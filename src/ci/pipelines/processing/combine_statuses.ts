/** Pure functions that combine the statuses of many jobs into the status of a stage, a pipeline or a job's needs. */
import type { JobStatus } from '../../../platform/db/schema/ci.ts';

export type StatusEntry = { status: JobStatus; allow_failure: 0 | 1 };

/** `warned`: failed or canceled with `allow_failure`; `ignored`: an optional manual job that nobody has started. */
type EffectiveStatus = JobStatus | 'warned' | 'ignored';

export type EffectiveStatuses = Set<EffectiveStatus>;

export const toEffectiveStatus = ({ status, allow_failure }: StatusEntry): EffectiveStatus => {
  if (allow_failure === 0) return status;
  if (status === 'failed' || status === 'canceled') return 'warned';
  return status === 'manual' ? 'ignored' : status;
};

const harmless: readonly EffectiveStatus[] = ['skipped', 'warned', 'ignored'];

/** The first entry whose set contains all the given statuses decides. */
const statusesByAll: readonly [JobStatus, ReadonlySet<EffectiveStatus>][] = [
  ['skipped', new Set<EffectiveStatus>(['skipped', 'ignored'])],
  ['success', new Set<EffectiveStatus>([...harmless, 'success'])],
  ['created', new Set<EffectiveStatus>(['created', 'warned', 'ignored'])],
  ['canceled', new Set<EffectiveStatus>([...harmless, 'success', 'canceled'])],
  ['pending', new Set<EffectiveStatus>([...harmless, 'pending', 'created'])],
];

/** Otherwise the first entry whose status is present decides; `failed` if none is. */
const statusesByAny: readonly [EffectiveStatus, JobStatus][] = [
  ['canceling', 'canceling'],
  ['running', 'running'],
  ['pending', 'running'],
  ['waiting_for_resource', 'waiting_for_resource'],
  ['manual', 'manual'],
  ['scheduled', 'scheduled'],
  ['created', 'running'],
];

/** Returns `skipped` for an empty set. */
export const combineEffectiveStatuses = (kinds: EffectiveStatuses): JobStatus => {
  const match = statusesByAll.find(([, all]) => kinds.isSubsetOf(all));
  if (match !== undefined) return match[0];
  return statusesByAny.find(([kind]) => kinds.has(kind))?.[1] ?? 'failed';
};

export const combineStatuses = (jobs: readonly StatusEntry[]): JobStatus =>
  combineEffectiveStatuses(new Set(jobs.map(toEffectiveStatus)));
