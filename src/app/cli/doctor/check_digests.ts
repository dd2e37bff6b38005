/** Reads every artifact and upload, in the data folder or the bucket, and compares the digests. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { artifactArea } from '../../../ci/artifacts/rules.ts';
import { getBlobKey, getProjectArea } from '../../../platform/blob/blob_files.ts';
import { type BlobReader, openBlobReader } from '../../../platform/blob/open_reader.ts';
import type { Config } from '../../../platform/config/fields.ts';
import type { Store } from '../../../platform/db/open.ts';
import { Failure } from '../../../platform/errors.ts';
import { forEachConcurrently } from '../../../platform/for_each_concurrently.ts';
import { type DamageCollector, collectDamage } from './collect_damage.ts';
import { type Finding, fail } from './finding.ts';
import type { Progress } from '../progress.ts';

const pageSize = 200;
/** Number of files to read concurrently. */
const concurrency = 4;

type ReferencedFile = {
  /** The table whose rows reference the file. */
  table: 'uploads' | 'artifacts';
  project_id: number;
  sha256: string;
  size: number;
  /** The id of the first row that references the file. */
  id: number;
  full_path: string;
};

/** Storage area of each table's files. */
const areas = { uploads: getProjectArea, artifacts: artifactArea } as const;
const tables = ['uploads', 'artifacts'] as const;

type Cursor = Pick<ReferencedFile, 'project_id' | 'sha256'>;

const listReferenced = async (
  { db }: Store,
  table: ReferencedFile['table'],
  after: Cursor,
): Promise<ReferencedFile[]> => {
  const { rows } = await sql<ReferencedFile>`
    select named.project_id, named.sha256, named.size, named.id, projects.full_path from (
      select project_id, sha256, max(size) as size, min(id) as id from ${sql.table(table)}
      where (project_id, sha256) > (${after.project_id}, ${after.sha256})
      group by project_id, sha256 order by project_id, sha256 limit ${pageSize}
    ) named join projects on projects.id = named.project_id
    order by named.project_id, named.sha256`.execute(db);
  return rows.map((row) => ({ ...row, table }));
};

export const countBytes = async ({ db }: Store): Promise<number> => {
  const { rows } = await sql<{
    count: number;
  }>`select (select count(*) from (select distinct project_id, sha256
    from uploads) u) + (select count(*) from (select distinct project_id, sha256 from artifacts) a) as count`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
};

/** Returns whether a row still references a missing or damaged file. */
const isReferenced = async ({ db }: Store, { table, id }: ReferencedFile): Promise<boolean> => {
  const { rows } = await sql`select 1 from ${sql.table(table)} where id = ${id}`.execute(db);
  return rows.length > 0;
};

export type Reading = BlobReader['blobs'];

/** Returns the problem of a file; null: none. @throws Failure when the store does not answer */
const findProblem = async (
  blobs: Reading,
  { table, project_id, sha256, size }: ReferencedFile,
): Promise<string | null> => {
  try {
    const stream = await blobs.get(areas[table](project_id), sha256);
    if (stream === null) return 'is missing';
    const digest = createHash('sha256');
    let length = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      digest.update(chunk);
      length += chunk.length;
    }
    if (length !== size) return `is damaged: ${length} bytes in place of ${size}`;
    return digest.digest('hex') === sha256 ? null : 'is damaged: its content has another digest';
  } catch (error) {
    if (error instanceof Failure) throw error;
    return `cannot be read (${(error as Error).message})`;
  }
};

const nouns = { uploads: 'upload', artifacts: 'artifact' } as const;

const adviceByTable = {
  uploads: 'restore it from a backup, or upload the same file again',
  artifacts: 'restore it from a backup, or retry its job and delete the old artifacts',
} as const;

type Checking = BlobReader & { store: Store; damage: DamageCollector; progress: Progress };

const checkFile = async (
  { blobs, where, store, damage, progress }: Checking,
  named: ReferencedFile,
): Promise<void> => {
  const { table, id, full_path, project_id, sha256 } = named;
  const problem = await findProblem(blobs, named);
  progress.advance();
  if (problem === null || !(await isReferenced(store, named))) return;
  const key = getBlobKey(areas[table](project_id), sha256);
  const detail = `${nouns[table]} ${id} of ${full_path} ${problem}: ${where(key)}`;
  damage.add(fail(nouns[table], detail, adviceByTable[table]));
};

const checkTable = async (parts: Checking, table: ReferencedFile['table']): Promise<void> => {
  let after: Cursor = { project_id: 0, sha256: '' };
  for (;;) {
    const rows = await listReferenced(parts.store, table, after);
    await forEachConcurrently(rows, concurrency, async (row) => await checkFile(parts, row));
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last;
  }
};

export const checkDigests = async (
  { config, store }: { config: Config; store: Store },
  progress: Progress,
): Promise<Finding[]> => {
  const damage = collectDamage('artifacts and uploads');
  const parts = { ...(await openBlobReader(config)), store, damage, progress };
  for (const table of tables) await checkTable(parts, table);
  return damage.findings('the bytes of all artifacts and uploads are there and have their digests');
};
