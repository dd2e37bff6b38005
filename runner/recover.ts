/** What a runner that was killed left: its processes end, its jobs are told to have failed, their logs completed. */
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { Client, JobClient } from './client.ts';
import { endGroups } from './executors/cgroup.ts';
import { isAlive, marked, signal } from './executors/processes.ts';
import { traceFile } from './folders.ts';
import { isPassing } from './http.ts';
import type { Job } from './protocol.ts';

/** A mark names the runner that gave it: `<folder>-<process>-<job>`. */
export const markOf = (root: string, identity: string, jobId: number): string =>
  `${crc32(root).toString(16)}-${identity.replace(':', '.')}-${jobId}`;

/** Of the runners of a folder: whether the one that gave a mark is gone. */
export const leftBehind = (root: string): ((mark: string) => boolean) => {
  const ours = `${crc32(root).toString(16)}-`;
  return (mark) => {
    const identity = mark.split('-')[1]?.replace('.', ':');
    return mark.startsWith(ours) && identity !== undefined && !isAlive(identity);
  };
};

/** Those whose runner is gone. @returns how many processes were ended */
export const endOrphans = async (root: string): Promise<number> => {
  const isLeft = leftBehind(root);
  const orphans = marked().filter(({ mark }) => isLeft(mark));
  for (const { pid } of orphans) signal(pid, 'SIGKILL');
  await endGroups(isLeft);
  return orphans.length;
};

const noteName = 'job.json';

/** From here on whoever finds the slot abandoned tells of the job. */
export const noteJob = (folder: string, { id, token }: Job): void => {
  rmSync(traceFile(folder), { force: true }); // of the job before, which nobody heard of
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

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return []; // a first start
  }
};

const isAbandoned = (folder: string): boolean => {
  try {
    return !isAlive(readFileSync(join(folder, 'lock'), 'utf8'));
  } catch {
    return true;
  }
};

/** What is known of jobs whose runner was killed, until the coordinator has heard of it. */
const lostFolder = (root: string): string => join(root, 'lost');

const moveIfThere = (from: string, to: string): void => {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
};

/** Takes what runners that were killed left of their jobs out of their slots: before anybody takes those again. */
export const setAside = (root: string): void => {
  const [slots, lost] = [join(root, 'slots'), lostFolder(root)];
  mkdirSync(lost, { recursive: true, mode: 0o700 });
  for (const folder of namesIn(slots).map((name) => join(slots, name))) {
    const note = isAbandoned(folder) ? readNote(join(folder, noteName)) : null;
    if (note === null) continue;
    moveIfThere(traceFile(folder), join(lost, `${note.id}.log`));
    renameSync(join(folder, noteName), join(lost, `${note.id}.json`)); // last: it leads to the log
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

/** @returns whether the coordinator has nothing more to hear of it @throws where nobody answers */
const failJob = async (job: JobClient, log: Buffer, patience: number): Promise<boolean> => {
  const all = Buffer.concat([log, Buffer.from(lastLine)]);
  const none = new AbortController().signal;
  // Without an offset that it knows, it says how much it has.
  let offset = 0;
  for (let tries = 0; tries < 3 && offset < all.length; tries += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one part after another
    const { status, size } = await job.appendTrace(offset, all.subarray(offset), none);
    if (status === 202) offset = all.length;
    else if (status === 416 && size !== null) offset = size;
    else return !isPassing(status);
  }
  const checksum = { crc: crc32(all), size: all.length };
  const outcome = { state: 'failed', failure_reason: 'runner_system_failure' } as const;
  const { status } = await job.finish(outcome, checksum, patience);
  return !isPassing(status);
};

/** Milliseconds between two tries. */
const pause = 500;

const tellOf = async (job: JobClient, log: Buffer, until: number): Promise<boolean> => {
  for (;;) {
    const left = until - performance.now();
    // oxlint-disable-next-line no-await-in-loop -- one try after another
    if (await failJob(job, log, left).catch(() => false)) return true;
    if (left < pause) return false;
    // oxlint-disable-next-line no-await-in-loop
    await wait(pause);
  }
};

/**
 * Tells of the jobs that were set aside. What nobody hears in time stays for the next runner.
 * @param patience milliseconds for all of them
 * @returns how many jobs it told of
 */
export const failAbandoned = async (root: string, client: Client, patience: number): Promise<number> => {
  const until = performance.now() + patience;
  const lost = lostFolder(root);
  let count = 0;
  for (const name of namesIn(lost).filter((one) => one.endsWith('.json'))) {
    const [file, logFile] = [join(lost, name), join(lost, name.replace(/json$/, 'log'))];
    const note = readNote(file);
    const job = note === null ? null : client.ofJob(note.id, note.token);
    // oxlint-disable-next-line no-await-in-loop -- few
    const isTold = job === null || (await tellOf(job, readLog(logFile), until));
    if (!isTold) continue;
    count += job === null ? 0 : 1;
    for (const done of [logFile, file]) rmSync(done, { force: true });
  }
  return count;
};
