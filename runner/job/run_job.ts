/** Runs a job from preparation to the final report. */
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { downloadArtifacts, uploadArtifacts } from '../files/transfer_artifacts.ts';
import { restoreCaches, saveCaches } from '../files/job_caches.ts';
import { watchDiskUsage } from '../files/disk_quota.ts';
import type { Executor } from '../executors/executor.ts';
import { makeFolders, projectFolder, removeTree, traceFile } from '../files/slot_folders.ts';
import { type JobLimits, type Result, failed, writeLastLine, toSystemFailure } from './job_result.ts';
import { type JobParts, type Prepared, sourceParts, transferParts, resolveValues } from './prepared_job.ts';
import type { Outcome } from '../coordinator/protocol.ts';
import { type Reporter, startReporter } from '../coordinator/report_log.ts';
import { writeFileVariables } from './run_script.ts';
import { getSources } from '../sources/fetch_sources.ts';
import { runAfter, runHook, runScripts } from './run_steps.ts';
import { type StopSignals, startTimer, makeStopSignals } from './stop_signals.ts';
import { type JobLog, openJobLog } from '../log/job_log.ts';
import { isFlagOn } from '../log/line_timestamps.ts';
import { fileVariables, listSecrets } from '../job_variables.ts';

const defaultTimeoutSeconds = 3_600;

/** Returns a variable as it was set: without the values of others. */
const findVariable = ({ job }: JobParts, name: string): string | undefined =>
  job.variables.findLast(({ key }) => key === name)?.value ?? undefined;

const makeTrace = (parts: JobParts, onGrowth: () => void): JobLog => {
  const { job, slot, logLimit } = parts;
  return openJobLog({
    file: traceFile(slot.folder),
    secrets: listSecrets(job.variables, job.token),
    prefixes: job.features?.token_mask_prefixes ?? undefined,
    limit: logLimit,
    hasTimestamps: isFlagOn(findVariable(parts, 'FF_TIMESTAMPS')),
    onGrowth,
  });
};

type JobContext = { trace: JobLog; stopSignals: StopSignals; limits: JobLimits };

const prepare = async (parts: JobParts, executor: Executor, context: JobContext): Promise<Prepared> => {
  const { job, slot, mark } = parts;
  const { user } = slot;
  const { trace, stopSignals } = context;
  const folders = await makeFolders(slot, projectFolder(job), executor.builds);
  const seen = executor.seen(folders, job);
  writeFileVariables(fileVariables(job.variables), folders, user);
  const values = resolveValues(parts, seen);
  const stop = stopSignals.script.signal;
  const setting = { job, folders, values, user, mark, own: slot.folder, say: trace.say, stop };
  const session = await executor.begin(setting).catch(async (error: unknown) => {
    await removeTree(folders.files); // secrets are among them
    throw error;
  });
  return { job, folders, values, user, mark, parts, seen, session, ...context };
};

const fetchInputs = async (prepared: Prepared): Promise<Result | null> => {
  const { job, trace, stopSignals } = prepared;
  const refused = await trace.section('get_sources', async () => {
    trace.say('Getting source from Git repository', 'blue');
    const result = await runHook(prepared);
    if (result === null) await getSources(sourceParts(prepared));
    return result;
  });
  if (refused !== null) return refused;
  const transfer = transferParts(prepared, stopSignals.script.signal);
  await restoreCaches(job.cache ?? [], transfer);
  await downloadArtifacts(job.dependencies ?? [], transfer);
  return null;
};

/** Uploads artifacts and saves caches, unless the job was stopped. */
const uploadResults = async (prepared: Prepared, { outcome }: Result): Promise<void> => {
  const { job, stopSignals } = prepared;
  const why = stopSignals.getReason();
  if (why === 'cancel' || why === 'abort') return;
  const transfer = transferParts(prepared, stopSignals.all.signal);
  const succeeded = outcome.state === 'success';
  await saveCaches(job.cache ?? [], succeeded, transfer);
  await uploadArtifacts(job.artifacts ?? [], succeeded, transfer);
};

const work = async (prepared: Prepared): Promise<Result> => {
  const { stopSignals, limits } = prepared;
  try {
    const refused = await fetchInputs(prepared);
    if (refused !== null) return refused;
    const result = await runScripts(prepared);
    await runAfter(prepared, result);
    await uploadResults(prepared, result);
    return result;
  } catch (error) {
    return toSystemFailure(stopSignals, error, limits);
  }
};

/** @returns stops watching */
const watchDiskLimit = ({ folders, stopSignals, limits }: Prepared): (() => void) => {
  if (limits.disk === null) return () => undefined;
  const { project, home, temp } = folders;
  return watchDiskUsage([project, home, temp], limits.disk, () => stopSignals.end('disk'));
};

/** Removes the files of the job, except files kept for its next run. */
const removeJobFiles = async ({ folders, trace }: Prepared): Promise<void> => {
  await trace.section('cleanup_file_variables', async () => {
    trace.say('Cleaning up project directory and file based variables', 'blue');
    for (const own of [folders.home, folders.temp, folders.files]) {
      await removeTree(own);
    }
  });
};

const writeHeader = (parts: JobParts, trace: JobLog): void => {
  const { version, systemId } = parts;
  trace.say(`Running with gantry-runner ${version}`, 'blue');
  const who = findVariable(parts, 'CI_RUNNER_DESCRIPTION') || hostname();
  trace.say(`  on ${who.replaceAll(/\s+/g, ' ')}, system ID: ${systemId}`, 'blue');
};

const runPreparedJob = async (parts: JobParts, context: JobContext): Promise<Result> => {
  const { trace, stopSignals, limits } = context;
  writeHeader(parts, trace);
  const chosen = parts.choice.choose(parts.job);
  if (typeof chosen === 'string') return toSystemFailure(stopSignals, new Error(chosen), limits);
  const { executor, notices } = chosen;
  const prepared = await trace.section('prepare_executor', async () => {
    trace.say(`Preparing the "${executor.name}" executor`, 'blue');
    trace.say(executor.notice);
    for (const notice of notices) trace.say(`WARNING: ${notice}`, 'yellow');
    return await prepare(parts, executor, context);
  });
  const unwatch = watchDiskLimit(prepared);
  try {
    await trace.section('prepare_script', async () => {
      trace.say('Preparing environment', 'blue');
      trace.say(`Running on ${hostname()}...`);
    });
    const result = await work(prepared);
    await removeJobFiles(prepared);
    return result;
  } finally {
    unwatch();
    await prepared.session.end();
  }
};

const getJobLimits = ({ job, idleLimit, diskLimit }: JobParts): JobLimits => {
  const seconds = job.runner_info?.timeout ?? 0;
  return { timeout: seconds > 0 ? seconds : defaultTimeoutSeconds, idle: idleLimit, disk: diskLimit };
};

/** Runs a job. @returns its result; false: the coordinator could not be reached */
export const runJob = async (parts: JobParts): Promise<{ outcome: Outcome; heard: boolean }> => {
  const { job, client, pace, ending } = parts;
  const stopSignals = makeStopSignals();
  let reporter: Reporter | null = null;
  const trace = makeTrace(parts, () => reporter?.grown());
  reporter = startReporter({
    client: client.ofJob(job.id, job.token),
    trace,
    pace,
    onStop: stopSignals.onStopRequest,
  });
  const limits = getJobLimits(parts);
  const timer = startTimer(limits.timeout, () => stopSignals.end('timeout'));
  const onEnding = (): void => stopSignals.end('abort');
  ending.addEventListener('abort', onEnding, { once: true });
  try {
    const result = await runPreparedJob(parts, { trace, stopSignals, limits }).catch((error: unknown) =>
      toSystemFailure(stopSignals, error, limits),
    );
    writeLastLine(trace, result);
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
