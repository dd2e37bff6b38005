/** Types of a prepared job: folders, variables and executor. */
import { join } from 'node:path';
import type { TransferParts } from '../files/transfer_artifacts.ts';
import type { CacheParts } from '../files/job_caches.ts';
import type { Client } from '../coordinator/client.ts';
import type { Choice } from '../executors/choose_executor.ts';
import type { Folders, Session } from '../executors/executor.ts';
import type { Slot } from '../files/slot_folders.ts';
import type { JobLimits } from './job_result.ts';
import type { Job } from '../coordinator/protocol.ts';
import type { Pace } from '../coordinator/report_log.ts';
import { type ScriptContext, variablePath } from './run_script.ts';
import { type SourceParts, trackedPaths } from '../sources/fetch_sources.ts';
import type { StopSignals } from './stop_signals.ts';
import type { JobLog } from '../log/job_log.ts';
import { type Values, resolveVariables } from '../job_variables.ts';

export type JobParts = {
  job: Job;
  slot: Slot;
  client: Client;
  choice: Choice;
  /** Address of the coordinator. */
  url: string;
  version: string;
  systemId: string;
  /** Folder of all caches. */
  caches: string;
  mark: string;
  /** Maximum bytes of a log. */
  logLimit: number;
  /** Seconds without output before a script is stopped. */
  idleLimit: number;
  /** Maximum bytes of a job's files on disk; null: unlimited. */
  diskLimit: number | null;
  pace: Pace;
  /** Stops the job immediately. */
  ending: AbortSignal;
};

export type Prepared = ScriptContext & {
  parts: JobParts;
  trace: JobLog;
  stopSignals: StopSignals;
  seen: Folders;
  session: Session;
  limits: JobLimits;
};

export const resolveValues = ({ job, slot }: JobParts, seen: Folders): Values => {
  const own = {
    CI_PROJECT_DIR: seen.project,
    CI_BUILDS_DIR: join(seen.project, '..'),
    CI_CONCURRENT_ID: String(slot.number),
    CI_CONCURRENT_PROJECT_ID: String(slot.number),
    CI_SERVER: 'yes',
  };
  const ours = Object.entries(own).map(([key, value]) => ({ key, value, raw: true }));
  return resolveVariables([...job.variables, ...ours], (key) => variablePath(seen.files, key));
};

export const sourceParts = (prepared: Prepared): SourceParts => {
  const { job, parts, values, folders, seen, user, trace, stopSignals } = prepared;
  const stop = stopSignals.script.signal;
  return { job, url: parts.url, values, folders, seenObjects: seen.objects, user, trace, stop };
};

export const transferParts = (prepared: Prepared, stop: AbortSignal): CacheParts & TransferParts => {
  const { job, parts, values, folders, seen, user, trace } = prepared;
  const tracked = async (): Promise<Set<string>> => await trackedPaths({ ...sourceParts(prepared), stop });
  return {
    job,
    values,
    trace,
    user,
    stop,
    caches: parts.caches,
    own: parts.slot.folder,
    client: parts.client.ofJob(job.id, job.token),
    source: { root: folders.project, seen: seen.project, owner: user, tracked },
  };
};
