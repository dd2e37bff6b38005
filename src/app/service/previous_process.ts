/**
 * Finds the process that previously used this data folder. It has exited, because this one holds the folder's lock. Its
 * work can be taken over without waiting for its leases to expire.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Store } from '../../platform/db/open.ts';
import { processName } from '../../platform/db/process_name.ts';

const nameFile = (folder: string): string => join(folder, 'process_name');

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Returns the name in the file; null if it is unreadable or truncated. Then its work waits for the leases to expire.
 */
const readName = (folder: string): string | null => {
  try {
    const name = readFileSync(nameFile(folder), 'utf8').trim();
    return uuid.test(name) ? name : null;
  } catch {
    return null;
  }
};

const isInUseBy = async ({ db, dialect }: Store, name: string): Promise<boolean> => {
  const named = sql`(select cast(${name} as text) as name) as last`;
  const { rows } = await sql`select 1 from ${named} where ${dialect.lives('last.name')}`.execute(db);
  return rows.length > 0;
};

/** Milliseconds to wait until the database server notices that a process has exited. */
const defaultTimeout = 2_000;

/** Milliseconds between polls. */
const pause = 20;

/** Returns the previous process's name; null if there was none or if it still uses the store (the folder is a copy). */
export const findPreviousProcess = async (
  store: Store,
  folder: string,
  timeout = defaultTimeout,
): Promise<string | null> => {
  const name = readName(folder);
  if (name === null || name === processName) return null;
  const end = performance.now() + timeout;
  while (await isInUseBy(store, name)) {
    if (performance.now() > end) return null;
    await wait(pause);
  }
  return name;
};

/**
 * Writes the name of this process to the folder. Must run after the previous process's work is taken over. A full disk
 * does not prevent the start; then this process's work is taken over only when its leases expire.
 */
export const signFolder = (folder: string, log: Logger): void => {
  try {
    writeFileSync(nameFile(folder), `${processName}\n`, { mode: 0o600 });
  } catch (error) {
    log.warn({ err: error }, 'cannot write the name of this process to the data folder');
  }
};
