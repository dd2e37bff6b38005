/** Runs a job from preparation to the final report. */
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { downloadArtifacts, uploadArtifacts } from '../files/artifacts.ts';
import { restoreCaches, saveCaches } from '../files/job_caches.ts';
import { watchDiskUsage } from '../files/disk_quota.ts';
import type { Executor } from '../executors/executor.ts';
import { makeFolders, projectFolder, removeTree, traceFile } from '../files/slot_folders.ts';
import { type Allowed, type Result, failed, lastWord, systemFailure } from './job_result.ts';
import { type JobParts, type Prepared, sourceParts, transferParts, resolveValues } from './prepared_job.ts';
import type { Outcome } from '../coordinator/protocol.ts';
import { type Reporter, startReporter } from '../coordinator/report_log.ts';
import { writeFileVariables } from './run_script.ts';
import { getSources } from '../sources/fetch_sources.ts';
import { runAfter, runHook, runScripts } from './run_steps.ts';
import { type Stops, afterSeconds, makeStops } from './stop_job.ts';
import { type JobLog, openJobLog } from '../log/job_log.ts';
import { fileVariables, listSecrets } from '../job_variables.ts';

const usualTimeout = 3_600;

const makeTrace = ({ job, slot, logLimit }: JobParts, onGrowth: () => void): JobLog =>
  openJobLog({
    file: traceFile(slot.folder),
    secrets: listSecrets(job.variables, job.token),
    prefixes: job.features?.token_mask_prefixes ?? undefined,
    limit: logLimit,
    onGrowth,
  });

type Telling = { trace: JobLog; stops: Stops; allowed: Allowed };

const prepare = async (parts: JobParts, executor: Executor, telling: Telling): Promise<Prepared> => {
  const { job, slot, mark } = parts;
  const { user } = slot;
  const { trace, stops } = telling;
  const folders = await makeFolders(slot, projectFolder(job), executor.builds);
  const seen = executor.seen(folders, job);
  writeFileVariables(fileVariables(job.variables), folders, user);
  const values = resolveValues(parts, seen);
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

/** Uploads artifacts and saves caches, unless the job was stopped. */
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

/** Removes what the job left, except files kept for its next run. */
const tidyUp = async ({ folders, trace }: Prepared): Promise<void> => {
  await trace.section('cleanup_file_variables', async () => {
    trace.say('Cleaning up project directory and file based variables', 'blue');
    for (const own of [folders.home, folders.temp, folders.files]) {
      await removeTree(own);
    }
  });
};

const introduce = ({ job, version, systemId }: JobParts, trace: JobLog): void => {
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

/** Runs a job. @returns its result; false: the coordinator could not be reached */
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
