/** Copies the rows of a project from a backup's database into the running one, with new ids. */
import { sql } from 'kysely';
import type { Store, Tx } from '../../../platform/db/open.ts';
import type { Snapshot } from '../snapshot.ts';
import { type RestoredProject, type Row, skip } from './column_rules.ts';
import { restoredTables } from './tables/restored_tables.ts';
import type { TableSpec } from './tables/table_spec.ts';

/** Rows and bytes of one transaction, so that others need not wait long. */
const batchSize = 100;
const batchBytes = 2 ** 20;

const estimateBytes = (row: Row): number =>
  Object.values(row).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' || value instanceof Uint8Array ? value.length : 8),
    0,
  );

/** Applies the rules to a row; null if it is left out. */
const convertRow = (row: Row, { columns }: TableSpec, project: RestoredProject): Row | null => {
  const converted: Row = {};
  for (const [column, value] of Object.entries(row)) {
    const rule = columns[column];
    const result = rule === undefined ? value : rule(value, row, project);
    if (result === skip) return null;
    converted[column] = result;
  }
  return converted;
};

/** @returns the ids of the rows in their order; empty for a table without ids */
const insert = async (
  { db }: Tx,
  table: string,
  rows: readonly Row[],
  withId: boolean,
): Promise<number[]> => {
  const [first = {}] = rows;
  const columns = sql.join(Object.keys(first).map((column) => sql.ref(column)));
  const values = sql.join(rows.map((row) => sql`(${sql.join(Object.values(row))})`));
  const into = sql`insert into ${sql.table(table)} (${columns}) values ${values}`;
  if (!withId) {
    await sql`${into} on conflict do nothing`.execute(db);
    return [];
  }
  const { rows: inserted } = await sql<{ id: number }>`${into} returning id`.execute(db);
  // Ids rise in the order of the values.
  return inserted.map(({ id }) => id).toSorted((one, other) => one - other);
};

export type Copying = { store: Store; snapshot: Snapshot; project: RestoredProject };

type Batch = { old: number[]; rows: Row[] };

const readBatches = function* readBatches(
  { snapshot, project }: Copying,
  spec: TableSpec,
  withId: boolean,
): Generator<Batch> {
  let batch: Batch = { old: [], rows: [] };
  let bytes = 0;
  const order = withId ? 'order by id' : '';
  const selected = `select * from ${spec.name} where ${spec.where} ${order}`;
  for (const row of snapshot.each<Row>(selected, project.oldId)) {
    const converted = convertRow(row, spec, project);
    if (converted === null) continue;
    if (withId) {
      batch.old.push(Number(converted['id']));
      delete converted['id'];
    }
    batch.rows.push(converted);
    bytes += estimateBytes(converted);
    if (batch.rows.length < batchSize && bytes < batchBytes) continue;
    yield batch;
    batch = { old: [], rows: [] };
    bytes = 0;
  }
  if (batch.rows.length > 0) yield batch;
};

const hasId = ({ snapshot }: Copying, table: string): boolean =>
  snapshot.all("select 1 from pragma_table_info(?) where name = 'id'", table).length > 0;

const copyTable = async (copying: Copying, spec: TableSpec): Promise<void> => {
  const { store, project } = copying;
  const withId = hasId(copying, spec.name);
  const ids = project.ids.get(spec.name) ?? new Map<number, number>();
  project.ids.set(spec.name, ids);
  for (const { old, rows } of readBatches(copying, spec, withId)) {
    const added = await store.write(async (tx) => await insert(tx, spec.name, rows, withId));
    for (const [at, id] of added.entries()) ids.set(old[at] ?? 0, id);
  }
};

type Link = { id: number; value: number };

/** Sets the ids of rows that were restored later. Others stay null. */
const linkLater = async ({ store, snapshot, project }: Copying, spec: TableSpec): Promise<void> => {
  for (const [column, table] of Object.entries(spec.later ?? {})) {
    const own = project.ids.get(spec.name);
    const others = project.ids.get(table);
    const links = snapshot
      .all<Link>(
        `select id, ${column} as value from ${spec.name} where (${spec.where}) and ${column} is not null`,
        project.oldId,
      )
      .flatMap(({ id, value }): [number, number][] => {
        const [row, other] = [own?.get(id), others?.get(value)];
        return row === undefined || other === undefined ? [] : [[row, other]];
      });
    for (let at = 0; at < links.length; at += batchSize)
      await store.write(async ({ db }) => {
        for (const [id, value] of links.slice(at, at + batchSize))
          await sql`update ${sql.table(spec.name)} set ${sql.ref(column)} = ${value} where id = ${id}`.execute(
            db,
          );
      });
  }
};

/** Distance between the places of two new issues, as `issues_position` computes them. */
const positionStep = 1_048_576;

/** Gives the issues the order by hand that they had, in the places that their new ids have. */
const orderIssues = async ({ store, snapshot, project }: Copying): Promise<void> => {
  const placed = snapshot.all(
    'select 1 from issues where project_id = ? and relative_position is not null limit 1',
    project.oldId,
  );
  if (placed.length === 0) return;
  const ids = project.ids.get('issues') ?? new Map<number, number>();
  const ordered = snapshot
    .all<{ id: number }>(
      `select id from issues where project_id = ? and deleted_at is null
        order by coalesce(relative_position, id * ${positionStep}), id`,
      project.oldId,
    )
    .flatMap(({ id }) => ids.get(id) ?? []);
  const places = ordered.toSorted((one, other) => one - other);
  for (let at = 0; at < ordered.length; at += batchSize)
    await store.write(async ({ db }) => {
      for (const [offset, id] of ordered.slice(at, at + batchSize).entries())
        await sql`update issues set relative_position = ${(places[at + offset] ?? 0) * positionStep}
          where id = ${id} and id <> ${places[at + offset]}`.execute(db);
    });
};

/** Finds the uploads whose secret another project has, and gives them another one. */
export const renewUploadSecrets = async (
  { store, snapshot, project }: Copying,
  newSecret: () => string,
): Promise<void> => {
  const rows = snapshot.all<{ secret: string }>(
    'select secret from uploads where project_id = ?',
    project.oldId,
  );
  for (const { secret } of rows) {
    const taken = await store.db
      .selectFrom('uploads')
      .select('id')
      .where('secret', '=', secret)
      .executeTakeFirst();
    if (taken !== undefined) project.uploadSecrets.set(secret, newSecret());
  }
};

/**
 * @param withSealed whether the instance can decrypt what the backup encrypted
 * @param onTable called after each table
 */
export const copyRows = async (
  copying: Copying,
  withSealed: boolean,
  onTable: (table: string) => Promise<void>,
): Promise<void> => {
  const tables = restoredTables.filter(({ isSealed = false }) => withSealed || !isSealed);
  for (const spec of tables) {
    await copyTable(copying, spec);
    await onTable(spec.name);
  }
  for (const spec of tables) await linkLater(copying, spec);
  await orderIssues(copying);
};
