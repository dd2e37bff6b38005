/** Updates of one row whose SQL text is cached, so that writes do not build and compile it again. */
import type { Kysely, Updateable } from 'kysely';
import { getDialect, runText } from './compiled_query.ts';
import type { Schema } from './schema/database.ts';

type Table = 'issues' | 'merge_requests';
type Counter = 'user_notes_count' | 'upvotes' | 'downvotes';

type Changes<T extends Table> = {
  /** New values. Column names must come from code, never from input. */
  set: Updateable<Schema[T]>;
  /** Amounts that are added. */
  add?: { [C in Counter]?: number };
  /** New `updated_at`. It rises by 1 instead if the clock went back, so that it never decreases. */
  touchedAt?: number | undefined;
};

const texts = new Map<string, string>();

type Shape = { table: Table; set: string[]; add: string[]; isTouched: boolean; isNumbered: boolean };

/** The revision rises in the same statement, which saves the trigger a second update of the row. */
const makeText = ({ table, set, add, isTouched, isNumbered }: Shape): string => {
  let at = 0;
  const next = (): string => (isNumbered ? `$${(at += 1)}` : '?');
  const parts = [
    ...set.map((name) => `"${name}" = ${next()}`),
    ...add.map((name) => `"${name}" = "${name}" + ${next()}`),
    ...(isTouched
      ? [`updated_at = case when updated_at < ${next()} then ${next()} else updated_at + 1 end`]
      : []),
    'revision = revision + 1',
  ];
  return `update "${table}" set ${parts.join(', ')} where id = ${next()}`;
};

export const updateRow = async <T extends Table>(
  db: Kysely<Schema>,
  table: T,
  id: number,
  { set, add = {}, touchedAt }: Changes<T>,
): Promise<void> => {
  const isNumbered = getDialect(db).engine === 'postgres';
  const names = { set: Object.keys(set), add: Object.keys(add) };
  const isTouched = touchedAt !== undefined;
  const key = `${isNumbered} ${table} ${names.set.join()} ${names.add.join()} ${isTouched}`;
  const text = texts.get(key) ?? makeText({ table, ...names, isTouched, isNumbered });
  texts.set(key, text);
  const times = isTouched ? [touchedAt, touchedAt] : [];
  await runText(db, text, [...Object.values(set), ...Object.values(add), ...times, id]);
};
