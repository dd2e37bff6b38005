/** Inserts whose SQL text is cached, so that writes do not build and compile it again. */
import type { Insertable, Kysely } from 'kysely';
import { getDialect, runText } from './compiled_query.ts';
import type { Schema } from './schema/database.ts';

type Table = keyof Schema;
type Ending = '' | 'returning id' | 'returning *' | `returning id, ${string}` | `on conflict ${string}`;

/** Maximum rows of an insert whose text is cached. Larger inserts are rare, and their texts long and varied. */
export const maxCachedRows = 20;

const quoted = (name: string): string => `"${name}"`;

type Shape = { table: Table; names: string[]; rows: number; ending: Ending; isNumbered: boolean };

const makeText = ({ table, names, rows, ending, isNumbered }: Shape): string => {
  const place = (row: number, column: number): string =>
    isNumbered ? `$${row * names.length + column + 1}` : '?';
  const values = Array.from(
    { length: rows },
    (_, row) => `(${names.map((_name, column) => place(row, column)).join(', ')})`,
  );
  return `insert into ${quoted(table)} (${names.map(quoted).join(', ')}) values ${values.join(', ')} ${ending}`;
};

/** Texts by table. */
const texts = new Map<Table, (Shape & { text: string })[]>();

const isSame = (one: Shape, other: Shape): boolean =>
  one.rows === other.rows &&
  one.ending === other.ending &&
  one.isNumbered === other.isNumbered &&
  one.names.length === other.names.length &&
  one.names.every((name, at) => name === other.names[at]);

/** Compares shapes: to join the names into a key costs as much as a statement. */
const getInsertText = (shape: Shape): string => {
  const known = texts.getOrInsertComputed(shape.table, () => []);
  const cached = known.find((one) => isSame(one, shape));
  if (cached !== undefined) return cached.text;
  const text = makeText(shape);
  if (shape.rows <= maxCachedRows) known.push({ ...shape, text });
  return text;
};

/**
 * Inserts rows that all have the same columns; does nothing for an empty list. Column names must come from code,
 * never from input.
 */
export const insertRows = async <T extends Table, R extends { id: number } = { id: number }>(
  db: Kysely<Schema>,
  table: T,
  rows: readonly Insertable<Schema[T]>[],
  ending: Ending = '',
): Promise<R[]> => {
  const [first] = rows;
  if (first === undefined) return [];
  const names = Object.keys(first);
  const isNumbered = getDialect(db).engine === 'postgres';
  const text = getInsertText({ table, names, rows: rows.length, ending, isNumbered });
  const parameters: unknown[] =
    rows.length === 1
      ? Object.values(first)
      : rows.flatMap((row) => names.map((name) => row[name as keyof typeof row]));
  return await runText<R>(db, text, parameters);
};

/** Inserts one row and returns its id. */
export const insertRow = async <T extends Table>(
  db: Kysely<Schema>,
  table: T,
  row: Insertable<Schema[T]>,
): Promise<number> => {
  const [inserted] = await insertRows(db, table, [row], 'returning id');
  if (inserted === undefined) throw new Error(`a row of ${table} was not stored`);
  return inserted.id;
};
