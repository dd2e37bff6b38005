/** What the commands for users share. */
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { Reader, Store } from '../db/open.ts';
import { StartFailure } from '../errors.ts';
import { setBlocked } from '../users/block.ts';
import { userIdByName } from '../users/queries.ts';
import { type About, UsageFailure, action, print } from './command.ts';
import { addSettings, readSettings } from './settings.ts';
import { withStore } from './store.ts';

export type AdminOptions = { json?: boolean; [option: string]: unknown };

/** A command that works on the data folder, beside a service that may be running. */
export const adminAction = (name: string, about: About): Command =>
  addSettings(action(name, about), ['data']);

export const onStore = async <T>(options: AdminOptions, work: (store: Store) => Promise<T>): Promise<T> =>
  await withStore(readSettings(options).config, work);

export const userParts = (store: Store) => ({ store, random: randomBytes });

export const requireUser = async (db: Reader, username: string): Promise<number> => {
  const id = await userIdByName(db, username);
  if (id === undefined)
    throw new StartFailure(`there is no user "${username}": "gantry admin user list" shows them`);
  return id;
};

/** The password that standard input holds, without its line end. */
export const passwordFromStdin = async (): Promise<string> => {
  let text = '';
  for await (const part of process.stdin.setEncoding('utf8')) text += String(part);
  const password = text.replace(/\r?\n$/, '');
  if (password === '' || password.includes('\n')) {
    throw new UsageFailure(
      '--password-stdin wants one line on standard input: printf %s "$PASSWORD" | gantry ...',
    );
  }
  return password;
};

export const passwordOption = [
  '--password-stdin',
  'read the password from standard input; without it, one is made',
] as const;

export const changeState = async (username: string, options: AdminOptions, blocked: boolean): Promise<void> =>
  await onStore(options, async (store) => {
    const id = await requireUser(store.db, username);
    await setBlocked(store, null, id, blocked);
    const state = blocked ? 'blocked' : 'active';
    print(options, { id, username, state }, `User "${username}" is ${state}.`);
  });
