/**
 * A quiet instance: a restored copy next to the original, which sends and fetches nothing. What it would send waits.
 * `backup restore --quiet` records this in the database, so that no start forgets it.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Platform } from '../../core/platform.ts';
import type { Config } from '../../platform/config/fields.ts';
import type { Reader, Store } from '../../platform/db/open.ts';
import { StartFailure, unavailable } from '../../platform/errors.ts';
import type { WorkHandler } from '../../platform/queue/enqueue.ts';

/** Name in the table `instance`; the value is the id of the message on all pages. */
const quietName = 'quiet';
/** Value in place of the id until the message exists. */
const noMessage = '0';
/** The message is shown until the instance is activated. */
const endOfTime = Date.UTC(2999, 0);

const loadMessageId = async (db: Reader): Promise<number | null> => {
  const row = await db
    .selectFrom('instance')
    .select('value')
    .where('name', '=', quietName)
    .executeTakeFirst();
  return row === undefined ? null : Number(row.value);
};

/** Returns the configuration that a service of this database uses. */
export const applyQuiet = async (store: Store, config: Config): Promise<Config> => {
  if (!config.quiet && (await loadMessageId(store.db)) === null) return config;
  return {
    ...config,
    quiet: true,
    smtp_url: null,
    backup_schedule: null,
    runner_executor: 'none',
  };
};

/** @throws StartFailure on a quiet instance: its backups would mix with those of the original */
export const refuseQuiet = async ({ db }: Store, { quiet }: Config): Promise<void> => {
  if (!quiet && (await loadMessageId(db)) === null) return;
  throw new StartFailure(
    'this instance is a quiet copy, whose backups would mix with those of the original: run "gantry backup activate" first, or unset GANTRY_QUIET',
  );
};

/** Makes the database of a file quiet, whatever its schema: before anything can start with it. */
export const markQuiet = (database: DatabaseSync): void => {
  const insert = database.prepare('insert into instance (name, value) values (?, ?) on conflict do nothing');
  insert.run(quietName, noMessage);
};

/** Makes an instance quiet, and says so on all pages. */
export const makeQuiet = async (store: Store, backup: string): Promise<void> =>
  await store.write(async ({ db, now }) => {
    if (((await loadMessageId(db)) ?? 0) > Number(noMessage)) return;
    const { id } = await db
      .insertInto('broadcast_messages')
      .values({
        message: `This is a copy, restored from the backup ${backup}. It sends no mail and no webhooks, and runs no schedules. What you change here is lost when it is removed.`,
        starts_at: now,
        ends_at: endOfTime,
        color: null,
        font: null,
        theme: 'red',
        target_access_levels: '[]',
        target_path: null,
        broadcast_type: 'banner',
        dismissable: 0,
        created_at: now,
        updated_at: now,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await db
      .insertInto('instance')
      .values({ name: quietName, value: String(id) })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: String(id) }))
      .execute();
  });

/** Ends the quiet of an instance. @returns whether it was quiet */
export const endQuiet = async (store: Store): Promise<boolean> =>
  await store.write(async ({ db }) => {
    const id = await loadMessageId(db);
    if (id === null) return false;
    await db.deleteFrom('broadcast_messages').where('id', '=', id).execute();
    await db.deleteFrom('instance').where('name', '=', quietName).execute();
    return true;
  });

type Handlers = { [name: string]: WorkHandler };

/** Replaces handlers that reach other systems. On a quiet instance they fail as in an outage, so that their work waits. */
export const holdOutgoing = (
  { config }: Platform,
  handlers: Handlers,
  outgoing: readonly string[],
): Handlers => {
  if (!config.quiet) return handlers;
  const hold = async (): Promise<void> => {
    await Promise.reject(new Error('the instance is a quiet copy', { cause: unavailable() }));
  };
  const held = outgoing.filter((name) => name in handlers).map((name) => [name, hold]);
  return { ...handlers, ...Object.fromEntries(held) };
};
