/** A job from its first line to its last. */
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { downloadArtifacts, uploadArtifacts } from './artifacts.ts';
import { restoreCaches, saveCaches } from './cache.ts';
import { watchDiskUsage } from './disk_quota.ts';
import type { Executor } from './executors/executor.ts';
import { makeFolders, removeTree, traceFile } from './folders.ts';
import { type Allowed, type Result, failed, lastWord, systemFailure } from './outcome.ts';
import { type JobParts, type Prepared, sourceParts, transferParts, valuesOf } from './prepared.ts';
import type { Outcome } from './protocol.ts';
import { type Reporter, startReporter } from './reporter.ts';
import { writeFileVariables } from './script_run.ts';
import { getSources } from './sources.ts';
import { runAfter, runHook, runScripts } from './steps.ts';
import { type Stops, afterSeconds, makeStops } from './stops.ts';
import { type Trace, openTrace } from './trace.ts';
import { fileVariables, secretsOf } from './variables.ts';

const usualTimeout = 3_600;

const makeTrace = ({ job, slot, logLimit }: JobParts, onGrowth: () => void): Trace =>
  openTrace({
    file: traceFile(slot.folder),
    secrets: secretsOf(job.variables, job.token),
    prefixes: job.features?.token_mask_prefixes ?? undefined,
    limit: logLimit,
    onGrowth,
  });

type Telling = { trace: Trace; stops: Stops; allowed: Allowed };

const prepare = async (parts: JobParts, executor: Executor, telling: Telling): Promise<Prepared> => {
  const { job, slot, mark } = parts;
  const { user } = slot;
  const { trace, stops } = telling;
  const folders = await makeFolders(slot, job.job_info.project_id, executor.builds);
  const seen = executor.seen(folders, job);
  writeFileVariables(fileVariables(job.variables), folders, user);
  const values = valuesOf(parts, seen);
  const stop = stops.script.signal;
  const setting = { job, folders, values, user, mark, own: slot.folder, say: trace.say, stop };
  const session = await executor.begin(setting).catch(async (error: unknown) => {
    await removeTree(folders.files); // secrets are among them
    throw error;
  });
  return { job, folders, values, user, mark, parts, seen, session, ...telling };
};

const bringAll = async (prepared: Prepared): Promise<Result | null> => {
  const { job, trace, stops } = prepared;
  const refused = await trace.section('get_sources', async () => {
    trace.say('Getting source from Git repository', 'blue');
    const result = await runHook(prepared);
    if (result === null) await getSources(sourceParts(prepared));
    return result;
  });
  if (refused !== null) return refused;
  const transfer = transferParts(prepared, stops.script.signal);
  await restoreCaches(job.cache ?? [], transfer);
  await downloadArtifacts(job.dependencies ?? [], transfer);
  return null;
};

/** What the job leaves, unless somebody stopped it. */
const keepAll = async (prepared: Prepared, { outcome }: Result): Promise<void> => {
  const { job, stops } = prepared;
  const why = stops.why();
  if (why === 'cancel' || why === 'abort') return;
  const transfer = transferParts(prepared, stops.all.signal);
  const succeeded = outcome.state === 'success';
  await saveCaches(job.cache ?? [], succeeded, transfer);
  await uploadArtifacts(job.artifacts ?? [], succeeded, transfer);
};

const work = async (prepared: Prepared): Promise<Result> => {
  const { stops, allowed } = prepared;
  try {
    const refused = await bringAll(prepared);
    if (refused !== null) return refused;
    const result = await runScripts(prepared);
    await runAfter(prepared, result);
    await keepAll(prepared, result);
    return result;
  } catch (error) {
    return systemFailure(stops, error, allowed);
  }
};

/** @returns stops watching */
const limitDisk = ({ folders, stops, allowed }: Prepared): (() => void) => {
  if (allowed.disk === null) return () => undefined;
  const { project, home, temp } = folders;
  return watchDiskUsage([project, home, temp], allowed.disk, () => stops.end('disk'));
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

const introduce = ({ job, version, systemId }: JobParts, trace: Trace): void => {
  trace.say(`Running with gantry-runner ${version}`, 'blue');
  const of = (name: string): string => job.variables.findLast(({ key }) => key === name)?.value ?? '';
  const who = of('CI_RUNNER_DESCRIPTION') || hostname();
  trace.say(`  on ${who.replaceAll(/\s+/g, ' ')}, system ID: ${systemId}`, 'blue');
};

const perform = async (parts: JobParts, telling: Telling): Promise<Result> => {
  const { trace, stops, allowed } = telling;
  introduce(parts, trace);
  const chosen = parts.choice.of(parts.job);
  if (typeof chosen === 'string') return systemFailure(stops, new Error(chosen), allowed);
  const { executor, notices } = chosen;
  const prepared = await trace.section('prepare_executor', async () => {
    trace.say(`Preparing the "${executor.name}" executor`, 'blue');
    trace.say(executor.notice);
    for (const notice of notices) trace.say(`WARNING: ${notice}`, 'yellow');
    return await prepare(parts, executor, telling);
  });
  const unwatch = limitDisk(prepared);
  try {
    await trace.section('prepare_script', async () => {
      trace.say('Preparing environment', 'blue');
      trace.say(`Running on ${hostname()}...`);
    });
    const result = await work(prepared);
    await tidyUp(prepared);
    return result;
  } finally {
    unwatch();
    await prepared.session.end();
  }
};

const allowedFor = ({ job, idleLimit, diskLimit }: JobParts): Allowed => {
  const seconds = job.runner_info?.timeout ?? 0;
  return { timeout: seconds > 0 ? seconds : usualTimeout, idle: idleLimit, disk: diskLimit };
};

/** @returns how it ended; false: its coordinator did not hear of it */
export const runJob = async (parts: JobParts): Promise<{ outcome: Outcome; heard: boolean }> => {
  const { job, client, pace, ending } = parts;
  const stops = makeStops();
  let reporter: Reporter | null = null;
  const trace = makeTrace(parts, () => reporter?.grown());
  reporter = startReporter({ client: client.ofJob(job.id, job.token), trace, pace, onStop: stops.heard });
  const allowed = allowedFor(parts);
  const timer = afterSeconds(allowed.timeout, () => stops.end('timeout'));
  const onEnding = (): void => stops.end('abort');
  ending.addEventListener('abort', onEnding, { once: true });
  try {
    const result = await perform(parts, { trace, stops, allowed }).catch((error: unknown) =>
      systemFailure(stops, error, allowed),
    );
    lastWord(trace, result);
    trace.end();
    const outcome = ending.aborted ? failed('runner_system_failure') : result.outcome;
    const heard = await reporter.finish(outcome);
    if (heard) await rm(traceFile(parts.slot.folder), { force: true });
    return { outcome, heard };
  } finally {
    clearTimeout(timer);
    ending.removeEventListener('abort', onEnding);
    trace.close();
  }
};
