/** A job that has its folders, variables and executor: what all of its parts work with. */
import { join } from 'node:path';
import type { TransferParts } from './artifacts.ts';
import type { CacheParts } from './cache.ts';
import type { Client } from './client.ts';
import type { Choice } from './executors/choose.ts';
import type { Folders, Session } from './executors/executor.ts';
import type { Slot } from './folders.ts';
import type { Allowed } from './outcome.ts';
import type { Job } from './protocol.ts';
import type { Pace } from './reporter.ts';
import { type ScriptPlace, variablePath } from './script_run.ts';
import { type SourceParts, trackedPaths } from './sources.ts';
import type { Stops } from './stops.ts';
import type { Trace } from './trace.ts';
import { type Values, resolveVariables } from './variables.ts';

export type JobParts = {
  job: Job;
  slot: Slot;
  client: Client;
  choice: Choice;
  /** Of the coordinator. */
  url: string;
  version: string;
  systemId: string;
  /** Holds all caches. */
  caches: string;
  mark: string;
  /** Bytes of a log. */
  logLimit: number;
  /** Seconds without a word of a script after which it is ended. */
  idleLimit: number;
  /** Bytes that a job's files take on the disk; null: as many as there are. */
  diskLimit: number | null;
  pace: Pace;
  /** Ends it at once. */
  ending: AbortSignal;
};

export type Prepared = ScriptPlace & {
  parts: JobParts;
  trace: Trace;
  stops: Stops;
  seen: Folders;
  session: Session;
  allowed: Allowed;
};

export const valuesOf = ({ job, slot }: JobParts, seen: Folders): Values => {
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
  const { job, parts, values, folders, seen, user, trace, stops } = prepared;
  const stop = stops.script.signal;
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
    place: { root: folders.project, seen: seen.project, owner: user, tracked },
  };
};
