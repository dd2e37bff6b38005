import type { Selectable } from 'kysely';
import { insertRows } from '../../platform/db/insert.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import type { SignInFailuresTable } from '../../platform/db/schema/credentials.ts';
import { type Failure, tooManyRequests } from '../../platform/errors.ts';
import {
  type Count,
  type FailureLimits,
  forgottenAfter,
  noFailures,
  getRefusalTime,
  addFailure,
} from './failure_counts.ts';

type Row = Selectable<SignInFailuresTable>;

const loadRows = async (db: Reader, names: readonly string[]): Promise<Row[]> =>
  await db.selectFrom('sign_in_failures').selectAll().where('name', 'in', names).execute();

/** 429. @param milliseconds until the next attempt is allowed */
export const tooManyFailures = (milliseconds: number): Failure => tooManyRequests(milliseconds / 1000);

/** @throws Failure 429 with `Retry-After` if one of the counts reached its limit */
const refuseTooMany = (counts: readonly Count[], now: number): void => {
  const refused = Math.max(0, ...counts.map((count) => getRefusalTime(count, now)));
  if (refused > 0) throw tooManyFailures(refused);
};

/** Refuses a sign-in after too many recent failures. @throws Failure 429 with `Retry-After` */
export const requireFewFailures = async (db: Reader, names: readonly string[], now: number): Promise<void> =>
  refuseTooMany(await loadRows(db, names), now);

/** Locks the counts of these names until the transaction ends. */
const lockRows = async ({ db, now, dialect }: Tx, names: readonly string[]): Promise<Row[]> => {
  await db
    .deleteFrom('sign_in_failures')
    .where('first_at', '<', now - forgottenAfter)
    .execute();
  const ordered = names.toSorted();
  const fresh = ordered.map((name) => ({ name, ...noFailures, first_at: now }));
  await insertRows(db, 'sign_in_failures', fresh, 'on conflict do nothing');
  return await db
    .selectFrom('sign_in_failures')
    .selectAll()
    .where('name', 'in', ordered)
    .orderBy('name')
    .modifyEnd(dialect.forUpdate)
    .execute();
};

const addToRows = async ({ db, now }: Tx, rows: readonly Row[], limits?: FailureLimits): Promise<void> => {
  for (const { name, ...count } of rows) {
    const next: Count = addFailure(count, now, limits);
    await db.updateTable('sign_in_failures').set(next).where('name', '=', name).execute();
  }
};

/** Counts one failure under each of these names. */
export const countFailure = async (tx: Tx, names: readonly string[], limits?: FailureLimits): Promise<void> =>
  await addToRows(tx, await lockRows(tx, names), limits);

/**
 * Counts one attempt of what is limited whether it succeeds or not. Attempts at the same time, also of several
 * services, count one after another.
 * @throws Failure 429 with `Retry-After` after too many; then nothing is counted
 */
export const countAttempt = async (
  tx: Tx,
  names: readonly string[],
  limits: FailureLimits,
): Promise<void> => {
  const rows = await lockRows(tx, names);
  refuseTooMany(rows, tx.now);
  await addToRows(tx, rows, limits);
};
