/** Recovers from a killed runner: ends its processes, reports its jobs as failed, completes their logs. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { Client, JobClient } from './coordinator/client.ts';
import { endGroups } from './executors/cgroup.ts';
import { isAlive, marked, signal } from './executors/processes.ts';
import { traceFile } from './files/slot_folders.ts';
import { isPassing } from './coordinator/http.ts';
import type { Job } from './coordinator/protocol.ts';
import { listNames } from './files/list_names.ts';

/** Builds the mark of a job's processes, `<folder>-<process>-<job>`. It identifies the runner that started them. */
export const buildMark = (root: string, identity: string, jobId: number): string =>
  `${crc32(root).toString(16)}-${identity.replace(':', '.')}-${jobId}`;

/** Returns a check: is this the mark of a runner that used this folder and has exited? */
export const makeLeftoverCheck = (root: string): ((mark: string) => boolean) => {
  const ours = `${crc32(root).toString(16)}-`;
  return (mark) => {
    const identity = mark.split('-')[1]?.replace('.', ':');
    return mark.startsWith(ours) && identity !== undefined && !isAlive(identity);
  };
};

/** Kills job processes whose runner has exited. @returns the number of killed processes */
export const endOrphans = async (root: string): Promise<number> => {
  const isLeftover = makeLeftoverCheck(root);
  const orphans = marked().filter(({ mark }) => isLeftover(mark));
  for (const { pid } of orphans) signal(pid, 'SIGKILL');
  await endGroups(isLeftover);
  return orphans.length;
};

const noteName = 'job.json';

/** Records the job of a slot. If this runner is killed, the next one reports the job as failed. */
export const noteJob = (folder: string, { id, token }: Job): void => {
  rmSync(traceFile(folder), { force: true }); // a leftover log of the slot's previous job
  writeFileSync(join(folder, noteName), JSON.stringify({ id, token }), { mode: 0o600 });
};

export const dropNote = (folder: string): void => rmSync(join(folder, noteName), { force: true });

type Note = { id: number; token: string };

const readNote = (file: string): Note | null => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Note;
  } catch {
    return null;
  }
};

const isAbandoned = (folder: string): boolean => {
  try {
    return !isAlive(readFileSync(join(folder, 'lock'), 'utf8'));
  } catch {
    return true;
  }
};

/** Folder of the records and logs of lost jobs, until the coordinator has received them. */
const lostFolder = (root: string): string => join(root, 'lost');

const moveIfThere = (from: string, to: string): void => {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
};

/** Moves the records and logs of lost jobs out of their slots. Call it before slots are taken again. */
export const setAside = (root: string): void => {
  const [slots, lost] = [join(root, 'slots'), lostFolder(root)];
  mkdirSync(lost, { recursive: true, mode: 0o700 });
  for (const folder of listNames(slots).map((name) => join(slots, name))) {
    const note = isAbandoned(folder) ? readNote(join(folder, noteName)) : null;
    if (note === null) continue;
    moveIfThere(traceFile(folder), join(lost, `${note.id}.log`));
    // Last: the record must not exist without its log.
    renameSync(join(folder, noteName), join(lost, `${note.id}.json`));
  }
};

const readLog = (file: string): Buffer => {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
};

const lastLine = '\n\u001B[31;1mERROR: Job failed (system failure): the runner was killed\u001B[0;m\n';

/**
 * Sends the log of a lost job and reports the job as failed.
 * @returns true if the coordinator gave a final answer, false to retry
 * @throws if the coordinator does not answer
 */
const failJob = async (job: JobClient, log: Buffer, timeout: number): Promise<boolean> => {
  const wholeLog = Buffer.concat([log, Buffer.from(lastLine)]);
  const none = new AbortController().signal;
  // If the offset is wrong, the reply (416) says how many bytes the coordinator already has.
  let offset = 0;
  for (let tries = 0; tries < 3 && offset < wholeLog.length; tries += 1) {
    const { status, size } = await job.appendTrace(offset, wholeLog.subarray(offset), none);
    if (status === 202) offset = wholeLog.length;
    else if (status === 416 && size !== null) offset = size;
    else return !isPassing(status);
  }
  const checksum = { crc: crc32(wholeLog), size: wholeLog.length };
  const outcome = { state: 'failed', failure_reason: 'runner_system_failure' } as const;
  const { status } = await job.finish(outcome, checksum, timeout);
  return !isPassing(status);
};

/** Milliseconds between two attempts. */
const pause = 500;

const reportFailure = async (job: JobClient, log: Buffer, until: number): Promise<boolean> => {
  for (;;) {
    const remaining = until - performance.now();
    if (await failJob(job, log, remaining).catch(() => false)) return true;
    if (remaining < pause) return false;
    await wait(pause);
  }
};

/**
 * Reports all lost jobs as failed. A job that cannot be reported in time stays for the next runner.
 * @param timeout time limit for all jobs together, in milliseconds
 * @returns the number of reported jobs
 */
export const failAbandoned = async (root: string, client: Client, timeout: number): Promise<number> => {
  const until = performance.now() + timeout;
  const lost = lostFolder(root);
  let count = 0;
  for (const name of listNames(lost).filter((one) => one.endsWith('.json'))) {
    const [file, logFile] = [join(lost, name), join(lost, name.replace(/json$/, 'log'))];
    const note = readNote(file);
    const job = note === null ? null : client.ofJob(note.id, note.token);
    const isReported = job === null || (await reportFailure(job, readLog(logFile), until));
    if (!isReported) continue;
    count += job === null ? 0 : 1;
    for (const done of [logFile, file]) rmSync(done, { force: true });
  }
  return count;
};
