/** What a runner that was killed left: its processes end, its jobs are told to have failed, their logs completed. */
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Client, JobClient } from './client.ts';
import { endGroups } from './executors/cgroup.ts';
import { isAlive, marked, signal } from './executors/processes.ts';
import { traceFile } from './folders.ts';
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

export const noteJob = (folder: string, { id, token }: Job): void =>
  writeFileSync(join(folder, noteName), JSON.stringify({ id, token }), { mode: 0o600 });

export const dropNote = (folder: string): void => rmSync(join(folder, noteName), { force: true });

const readNote = (folder: string): { id: number; token: string } | null => {
  try {
    return JSON.parse(readFileSync(join(folder, noteName), 'utf8')) as { id: number; token: string };
  } catch {
    return null;
  }
};

const readLog = (folder: string): Buffer => {
  try {
    return readFileSync(traceFile(folder));
  } catch {
    return Buffer.alloc(0);
  }
};

/** Milliseconds for which a coordinator is asked to hear it. */
const patience = 30_000;

const lastLine = '\n\u001B[31;1mERROR: Job failed (system failure): the runner was killed\u001B[0;m\n';

const failJob = async (job: JobClient, log: Buffer): Promise<void> => {
  const all = Buffer.concat([log, Buffer.from(lastLine)]);
  const none = new AbortController().signal;
  // Without an offset that it knows, it says how much it has.
  let offset = 0;
  for (let tries = 0; tries < 3 && offset < all.length; tries += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one part after another
    const word = await job.appendTrace(offset, all.subarray(offset), none);
    if (word.status === 202) offset = all.length;
    else if (word.status === 416 && word.size !== null) offset = word.size;
    else return;
  }
  const checksum = { crc: crc32(all), size: all.length };
  await job.finish({ state: 'failed', failure_reason: 'runner_system_failure' }, checksum, patience);
};

const isAbandoned = (folder: string): boolean => {
  try {
    return !isAlive(readFileSync(join(folder, 'lock'), 'utf8'));
  } catch {
    return true;
  }
};

/** @returns how many jobs it told of */
export const failAbandoned = async (root: string, client: Client): Promise<number> => {
  const slots = join(root, 'slots');
  let count = 0;
  let names: string[] = [];
  try {
    names = readdirSync(slots);
  } catch {
    return 0; // a first start
  }
  for (const folder of names.map((name) => join(slots, name)).filter(isAbandoned)) {
    const note = readNote(folder);
    if (note === null) continue;
    dropNote(folder);
    count += 1;
    // oxlint-disable-next-line no-await-in-loop -- few
    await failJob(client.ofJob(note.id, note.token), readLog(folder)).catch(() => undefined);
  }
  return count;
};
