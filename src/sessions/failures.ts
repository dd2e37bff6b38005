import type { Selectable } from 'kysely';
import { insertRows } from '../db/insert.ts';
import type { Reader, Tx } from '../db/open.ts';
import type { SignInFailuresTable } from '../db/schema_access.ts';
import { type Failure, tooOften } from '../errors.ts';
import { type Count, forgottenAfter, noFailures, refusedFor, withFailure } from './attempts.ts';

type Row = Selectable<SignInFailuresTable>;

const rowsOf = async (db: Reader, names: readonly string[]): Promise<Row[]> =>
  await db.selectFrom('sign_in_failures').selectAll().where('name', 'in', names).execute();

/** 429. @param milliseconds until one may try again */
export const tooManyFailures = (milliseconds: number): Failure => tooOften(milliseconds / 1000);

/** @throws Failure 429 with `Retry-After` where too many sign-ins of late failed under one of these names */
export const requireFewFailures = async (
  db: Reader,
  names: readonly string[],
  now: number,
): Promise<void> => {
  const counts = await rowsOf(db, names);
  const refused = Math.max(0, ...counts.map((count) => refusedFor(count, now)));
  if (refused > 0) throw tooManyFailures(refused);
};

/**
 * Counts one failure under each of these names.
 * @param window milliseconds in which ten are too many; usually a minute
 */
export const countFailure = async (tx: Tx, names: readonly string[], window?: number): Promise<void> => {
  const { db, now, words } = tx;
  await db
    .deleteFrom('sign_in_failures')
    .where('first_at', '<', now - forgottenAfter)
    .execute();
  const ordered = names.toSorted();
  const fresh = ordered.map((name) => ({ name, ...noFailures, first_at: now }));
  await insertRows(db, 'sign_in_failures', fresh, 'on conflict do nothing');
  const rows = await db
    .selectFrom('sign_in_failures')
    .selectAll()
    .where('name', 'in', ordered)
    .orderBy('name')
    .modifyEnd(words.forUpdate)
    .execute();
  for (const { name, ...count } of rows) {
    const next: Count = withFailure(count, now, window);
    // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
    await db.updateTable('sign_in_failures').set(next).where('name', '=', name).execute();
  }
};
