/**
 * The process that had this data folder before us. It has ended, for the folder's lock is ours: nobody is at work any
 * more on what it began (`processName`), and nobody needs to wait until its silence tells so.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Store } from '../db/open.ts';
import { processName } from '../db/process.ts';

const fileIn = (folder: string): string => join(folder, 'process_name');

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** null also where it cannot be read, or a power cut left a part of it: then what is held waits for its lease. */
const nameIn = (folder: string): string | null => {
  try {
    const name = readFileSync(fileIn(folder), 'utf8').trim();
    return uuid.test(name) ? name : null;
  } catch {
    return null;
  }
};

const isInUseBy = async ({ db, words }: Store, name: string): Promise<boolean> => {
  const named = sql`(select cast(${name} as text) as name) as last`;
  const { rows } = await sql`select 1 from ${named} where ${words.lives('last.name')}`.execute(db);
  return rows.length > 0;
};

/** Milliseconds after its end for which a server may still know a process, and between two looks. */
const usualPatience = 2_000;
const pause = 20;

/** Its name; null where there was none, or it uses the store: then this folder is a copy of the one that it has. */
export const lastProcess = async (
  store: Store,
  folder: string,
  patience = usualPatience,
): Promise<string | null> => {
  const name = nameIn(folder);
  if (name === null || name === processName) return null;
  const end = performance.now() + patience;
  // oxlint-disable no-await-in-loop -- asks until it is gone
  while (await isInUseBy(store, name)) {
    if (performance.now() > end) return null;
    await setTimeout(pause);
  }
  // oxlint-enable no-await-in-loop
  return name;
};

/**
 * From now on the last process is this one: once what the one before left is taken over. A full disk keeps nobody from
 * starting: then what this one leaves waits for its lease.
 */
export const signFolder = (folder: string, log: Logger): void => {
  try {
    writeFileSync(fileIn(folder), `${processName}\n`, { mode: 0o600 });
  } catch (error) {
    log.warn({ err: error }, 'the data folder does not take the name of this process');
  }
};
