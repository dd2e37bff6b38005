/** Inserts whose SQL is kept: what every write does must not be built and compiled with every write. */
import { CompiledQuery, type Insertable, type Kysely } from 'kysely';
import { wordsOf } from './compiled.ts';
import type { Schema } from './schema.ts';

type Table = keyof Schema;
type Ending = '' | 'returning id' | 'on conflict do nothing';

const texts = new Map<string, string>();

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

const textOf = (shape: Shape): string => {
  const key = `${shape.isNumbered} ${shape.table} ${shape.names.join()} ${shape.rows} ${shape.ending}`;
  const known = texts.get(key);
  if (known !== undefined) return known;
  const text = makeText(shape);
  texts.set(key, text);
  return text;
};

/** Inserts rows that all have the same columns; none: does nothing. Names of columns are code, never input. */
export const insertRows = async <T extends Table>(
  db: Kysely<Schema>,
  table: T,
  rows: readonly Insertable<Schema[T]>[],
  ending: Ending = '',
): Promise<{ id: number }[]> => {
  const [first] = rows;
  if (first === undefined) return [];
  const names = Object.keys(first);
  const isNumbered = wordsOf(db).engine === 'postgres';
  const text = textOf({ table, names, rows: rows.length, ending, isNumbered });
  const parameters = rows.flatMap((row) => names.map((name) => row[name as keyof typeof row]));
  const result = await db.executeQuery<{ id: number }>(CompiledQuery.raw(text, parameters));
  return result.rows;
};

/** Inserts one row and answers its id. */
export const insertRow = async <T extends Table>(
  db: Kysely<Schema>,
  table: T,
  row: Insertable<Schema[T]>,
): Promise<number> => {
  const [inserted] = await insertRows(db, table, [row], 'returning id');
  if (inserted === undefined) throw new Error(`a row of ${table} was not stored`);
  return inserted.id;
};
