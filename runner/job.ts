/** A job from its first line to its last. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { downloadArtifacts, uploadArtifacts, type TransferParts } from './artifacts.ts';
import { restoreCaches, saveCaches, type CacheParts } from './cache.ts';
import type { Client } from './client.ts';
import type { Choice } from './executors/choose.ts';
import type { Executor, Folders } from './executors/executor.ts';
import type { Ended } from './executors/run.ts';
import { type Slot, makeFolders, removeTree, traceFile } from './folders.ts';
import { failed, lastWord, outcomeOf, statusWord, systemFailure } from './outcome.ts';
import type { Job, Outcome, Step } from './protocol.ts';
import { type Pace, type Reporter, startReporter } from './reporter.ts';
import { type ScriptPlace, runScript, variablePath, writeFileVariables } from './script_run.ts';
import { type SourceParts, getSources, trackedPaths } from './sources.ts';
import { type Stops, makeStops } from './stops.ts';
import { type Trace, openTrace } from './trace.ts';
import { type Values, fileVariables, resolveVariables, secretsOf } from './variables.ts';

export type JobParts = {
  job: Job;
  slot: Slot;
  client: Client;
  choice: Choice;
  /** Of the coordinator. */
  url: string;
  version: string;
  /** Holds all caches. */
  caches: string;
  mark: string;
  /** Bytes of a log. */
  logLimit: number;
  /** Seconds without a word of a script after which it is ended. */
  idleLimit: number;
  pace: Pace;
  /** Ends it at once. */
  ending: AbortSignal;
};

/** Seconds that an `after_script` may take. */
const afterLimit = 300;
const longestTimer = 2 ** 31 - 1;
const usualTimeout = 3_600;

const makeTrace = ({ job, slot, logLimit }: JobParts, onGrowth: () => void): Trace =>
  openTrace({
    file: traceFile(slot.folder),
    secrets: secretsOf(job.variables, job.token),
    prefixes: job.features?.token_mask_prefixes ?? undefined,
    limit: logLimit,
    onGrowth,
  });

type Prepared = ScriptPlace & { parts: JobParts; trace: Trace; stops: Stops; seen: Folders };

const valuesOf = ({ job, slot }: JobParts, seen: Folders): Values => {
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

const prepare = async (
  parts: JobParts,
  executor: Executor,
  { trace, stops }: { trace: Trace; stops: Stops },
): Promise<Prepared> => {
  const { job, slot, mark } = parts;
  const { user } = slot;
  const folders = await makeFolders(slot, job.job_info.project_id);
  const seen = executor.seen(folders, job);
  writeFileVariables(fileVariables(job.variables), folders, user);
  return { job, executor, folders, values: valuesOf(parts, seen), user, mark, parts, trace, stops, seen };
};

const sourceParts = ({ job, parts, values, folders, seen, user, trace, stops }: Prepared): SourceParts => ({
  job,
  url: parts.url,
  values,
  folders,
  seenObjects: seen.objects,
  user,
  trace,
  stop: stops.script.signal,
});

const transferParts = (prepared: Prepared, stop: AbortSignal): CacheParts & TransferParts => {
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
    place: { root: folders.project, seen: seen.project, tracked },
  };
};

/** Runs a step; what it prints keeps it alive. */
const runStep = async (prepared: Prepared, step: Step, stop: AbortController): Promise<Ended> => {
  const { trace, parts } = prepared;
  const idle = setTimeout(() => stop.abort('idle'), Math.min(parts.idleLimit * 1000, longestTimer));
  const onOutput = (chunk: Buffer): void => {
    idle.refresh();
    trace.write(chunk);
  };
  try {
    return await runScript({ ...prepared, name: step.name, lines: step.script, onOutput, stop: stop.signal });
  } finally {
    clearTimeout(idle);
  }
};

const runHook = async (prepared: Prepared): Promise<Outcome | null> => {
  const hook = prepared.job.hooks?.find(({ name }) => name === 'pre_get_sources_script');
  if (hook === undefined || hook.script.length === 0) return null;
  const ended = await runStep(prepared, hook, prepared.stops.script);
  return ended.code === 0 ? null : outcomeOf(prepared.trace, prepared.stops.why(), ended);
};

const bringAll = async (prepared: Prepared): Promise<Outcome | null> => {
  const { job, trace, stops } = prepared;
  const refused = await trace.section('get_sources', async () => {
    trace.say('Getting source from Git repository', 'blue');
    const outcome = await runHook(prepared);
    if (outcome === null) await getSources(sourceParts(prepared));
    return outcome;
  });
  if (refused !== null) return refused;
  const transfer = transferParts(prepared, stops.script.signal);
  await restoreCaches(job.cache ?? [], transfer);
  await downloadArtifacts(job.dependencies ?? [], transfer);
  return null;
};

const isAfter = ({ name }: Step): boolean => name === 'after_script';

const runScripts = async (prepared: Prepared): Promise<Outcome> => {
  const { job, trace, stops } = prepared;
  for (const step of job.steps.filter((step) => !isAfter(step))) {
    const name = step.name === 'script' ? 'step_script' : `step_${step.name}`;
    // oxlint-disable-next-line no-await-in-loop -- one after another
    const ended = await trace.section(name, async () => {
      trace.say(`Executing "${name}" stage of the job script`, 'blue');
      return await runStep(prepared, step, stops.script);
    });
    const outcome = outcomeOf(prepared.trace, prepared.stops.why(), ended);
    if (outcome.state === 'failed') return outcome;
  }
  return { state: 'success' };
};

/** In a shell of its own; how it ends is no matter of the job. */
const runAfter = async (prepared: Prepared, outcome: Outcome): Promise<void> => {
  const { job, trace, stops, values } = prepared;
  const step = job.steps.find(isAfter);
  if (step === undefined || step.script.length === 0 || stops.all.signal.aborted) return;
  const own = new AbortController();
  const onAll = (): void => own.abort('abort');
  stops.all.signal.addEventListener('abort', onAll, { once: true });
  const timer = setTimeout(() => own.abort('timeout'), afterLimit * 1000);
  const more = { ...prepared, values: new Map([...values, ['CI_JOB_STATUS', statusWord(outcome)]]) };
  try {
    await trace.section('after_script', async () => {
      trace.say('Running after_script', 'blue');
      const { code } = await runStep(more, step, own);
      if (code !== 0) trace.say('WARNING: after_script failed, but job will continue unaffected', 'yellow');
    });
  } finally {
    clearTimeout(timer);
    stops.all.signal.removeEventListener('abort', onAll);
  }
};

/** What the job leaves, unless somebody stopped it. */
const keepAll = async (prepared: Prepared, outcome: Outcome): Promise<void> => {
  const { job, stops } = prepared;
  const why = stops.why();
  if (why === 'cancel' || why === 'abort') return;
  const transfer = transferParts(prepared, stops.all.signal);
  const succeeded = outcome.state === 'success';
  await saveCaches(job.cache ?? [], succeeded, transfer);
  await uploadArtifacts(job.artifacts ?? [], succeeded, transfer);
};

const work = async (prepared: Prepared): Promise<Outcome> => {
  const { trace, stops } = prepared;
  try {
    const refused = await bringAll(prepared);
    if (refused !== null) return refused;
    const outcome = await runScripts(prepared);
    await runAfter(prepared, outcome);
    await keepAll(prepared, outcome);
    return outcome;
  } catch (error) {
    return systemFailure(trace, stops, error);
  }
};

/** What it left behind, but for what its next run here may use. */
const tidyUp = async ({ folders, trace }: Prepared): Promise<void> => {
  await trace.section('cleanup_file_variables', async () => {
    trace.say('Cleaning up project directory and file based variables', 'blue');
    for (const own of [folders.home, folders.temp, folders.files]) {
      // oxlint-disable-next-line no-await-in-loop -- three
      await removeTree(own);
    }
  });
};

const perform = async (parts: JobParts, trace: Trace, stops: Stops): Promise<Outcome> => {
  const chosen = parts.choice.of(parts.job);
  trace.say(`Running with gantry-runner ${parts.version}`, 'blue');
  if (typeof chosen === 'string') return systemFailure(trace, stops, new Error(chosen));
  await trace.section('prepare_executor', async () => {
    trace.say(`Preparing the "${chosen.executor.name}" executor`, 'blue');
    trace.say(chosen.executor.notice);
    for (const notice of chosen.notices) trace.say(`WARNING: ${notice}`, 'yellow');
  });
  const prepared = await prepare(parts, chosen.executor, { trace, stops });
  const outcome = await work(prepared);
  await tidyUp(prepared);
  return outcome;
};

/** @returns how it ended; false: its coordinator did not hear of it */
export const runJob = async (parts: JobParts): Promise<{ outcome: Outcome; heard: boolean }> => {
  const { job, client, pace, ending } = parts;
  const stops = makeStops();
  let reporter: Reporter | null = null;
  const trace = makeTrace(parts, () => reporter?.grown());
  reporter = startReporter({ client: client.ofJob(job.id, job.token), trace, pace, onStop: stops.heard });
  const seconds = job.runner_info?.timeout ?? 0;
  const limit = Math.min((seconds > 0 ? seconds : usualTimeout) * 1000, longestTimer);
  const timer = setTimeout(() => stops.end('timeout'), limit);
  const onEnding = (): void => stops.end('abort');
  ending.addEventListener('abort', onEnding, { once: true });
  try {
    const outcome = await perform(parts, trace, stops).catch((error: unknown) =>
      systemFailure(trace, stops, error),
    );
    lastWord(trace, outcome);
    trace.end();
    const heard = await reporter.finish(ending.aborted ? failed('runner_system_failure') : outcome);
    if (heard) await rm(traceFile(parts.slot.folder), { force: true });
    return { outcome, heard };
  } finally {
    clearTimeout(timer);
    ending.removeEventListener('abort', onEnding);
    trace.close();
  }
};
