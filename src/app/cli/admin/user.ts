/** Helpers shared by the user commands. */
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { Reader, Store } from '../../../platform/db/open.ts';
import { StartFailure } from '../../../platform/errors.ts';
import { setBlocked } from '../../../identity/users/block.ts';
import { userIdByName } from '../../../identity/users/queries.ts';
import { type About, UsageFailure, action } from '../command_builders.ts';
import { print } from '../print_result.ts';
import { readDataSettings } from '../data_owner.ts';
import { addSettings } from '../setting_options.ts';
import { withStore } from '../with_store.ts';

export type AdminOptions = { json?: boolean };

/** Makes a command that works on the data folder, also while the service runs. */
export const adminAction = (name: string, about: About): Command =>
  addSettings(action(name, about), ['data']);

/** Opens the store that the options name, runs `work` on it, and closes it. */
export const withOpenStore = async <T>(
  options: AdminOptions,
  work: (store: Store) => Promise<T>,
): Promise<T> => await withStore(readDataSettings(options).config, work);

export const userParts = (store: Store) => ({ store, random: randomBytes });

/** Returns the id of a user. @throws StartFailure for an unknown user name */
export const requireUser = async (db: Reader, username: string): Promise<number> => {
  const id = await userIdByName(db, username);
  if (id === undefined)
    throw new StartFailure(`user "${username}" not found; list the users with "gantry admin user list"`);
  return id;
};

/** Reads a password from standard input, without its line end. */
export const readPasswordFromStdin = async (): Promise<string> => {
  let text = '';
  for await (const part of process.stdin.setEncoding('utf8')) text += String(part);
  const password = text.replace(/\r?\n$/, '');
  if (password === '' || password.includes('\n')) {
    throw new UsageFailure(
      '--password-stdin expects one line on standard input: printf %s "$PASSWORD" | gantry ...',
    );
  }
  return password;
};

export const passwordOption = [
  '--password-stdin',
  'read the password from standard input; default: a generated password',
] as const;

/** Blocks or unblocks a user and prints the new state. */
export const changeState = async (username: string, options: AdminOptions, blocked: boolean): Promise<void> =>
  await withOpenStore(options, async (store) => {
    const id = await requireUser(store.db, username);
    await setBlocked(store, null, id, blocked);
    const state = blocked ? 'blocked' : 'active';
    print(options, { id, username, state }, `User "${username}" is ${state}.`);
  });
