/** Reads the bytes of every artifact and upload, in the data folder or in the bucket, and compares their digests. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { sql } from 'kysely';
import { artifactArea } from '../artifacts/rules.ts';
import { blobKey, projectArea, readFiles } from '../blob/files.ts';
import type { Config } from '../config.ts';
import { s3Place } from '../config_blobs.ts';
import type { Store } from '../db/open.ts';
import { Failure } from '../errors.ts';
import { type Damages, collectDamages } from './doctor_damages.ts';
import { type Finding, fail } from './doctor_finding.ts';
import type { Progress } from './progress.ts';

const pageSize = 200;
/** Read at once. */
const abreast = 4;

type Named = {
  /** A table whose rows name bytes. */
  table: 'uploads' | 'artifacts';
  project_id: number;
  sha256: string;
  size: number;
  /** The first row that names them. */
  id: number;
  full_path: string;
};

/** Where their bytes are kept. */
const areas = { uploads: projectArea, artifacts: artifactArea } as const;
const tables = ['uploads', 'artifacts'] as const;

type Cursor = Pick<Named, 'project_id' | 'sha256'>;

const listNamed = async ({ db }: Store, table: Named['table'], after: Cursor): Promise<Named[]> => {
  const { rows } = await sql<Named>`
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

/** Of bytes that are missing or damaged: whether a row still names them. */
const isNamed = async ({ db }: Store, { table, id }: Named): Promise<boolean> => {
  const { rows } = await sql`select 1 from ${sql.table(table)} where id = ${id}`.execute(db);
  return rows.length > 0;
};

type Reading = Pick<ReturnType<typeof readFiles>, 'get'>;

/** What is wrong with these bytes; null: nothing. @throws Failure where the store is away */
const findProblem = async (
  blobs: Reading,
  { table, project_id, sha256, size }: Named,
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

type Source = { blobs: Reading; where: (key: string) => string };

const openSource = async (config: Config): Promise<Source> => {
  const place = s3Place(config);
  if (place === null) {
    const root = join(config.data, 'blobs');
    return { blobs: readFiles(root), where: (key) => join(root, key) };
  }
  const [{ openBucket }, { openS3 }] = await Promise.all([
    import('../blob/bucket.ts'),
    import('../blob/s3.ts'),
  ]);
  const bucket = openBucket(place, () => undefined);
  return { blobs: openS3(bucket), where: (key) => `${key} in the bucket ${place.bucket}` };
};

const nounOf = { uploads: 'upload', artifacts: 'artifact' } as const;

const adviceOf = {
  uploads: 'restore it from a backup, or upload the same file again',
  artifacts: 'restore it from a backup, or retry its job and delete the old artifacts',
} as const;

type Checking = Source & { store: Store; damages: Damages; progress: Progress };

const checkOne = async (
  { blobs, where, store, damages, progress }: Checking,
  named: Named,
): Promise<void> => {
  const { table, id, full_path, project_id, sha256 } = named;
  const problem = await findProblem(blobs, named);
  progress.advance();
  if (problem === null || !(await isNamed(store, named))) return;
  const key = blobKey(areas[table](project_id), sha256);
  const detail = `${nounOf[table]} ${id} of ${full_path} ${problem}: ${where(key)}`;
  damages.add(fail(nounOf[table], detail, adviceOf[table]));
};

const checkTable = async (parts: Checking, table: Named['table']): Promise<void> => {
  let after: Cursor = { project_id: 0, sha256: '' };
  for (;;) {
    // oxlint-disable no-await-in-loop -- a few at a time
    const rows = await listNamed(parts.store, table, after);
    for (let at = 0; at < rows.length; at += abreast) {
      const some = rows.slice(at, at + abreast);
      await Promise.all(some.map(async (row) => await checkOne(parts, row)));
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last;
    // oxlint-enable no-await-in-loop
  }
};

export const checkDigests = async (
  { config, store }: { config: Config; store: Store },
  progress: Progress,
): Promise<Finding[]> => {
  const damages = collectDamages('artifacts and uploads');
  const parts = { ...(await openSource(config)), store, damages, progress };
  for (const table of tables) await checkTable(parts, table); // oxlint-disable-line no-await-in-loop -- one disk
  return damages.findings('the bytes of all artifacts and uploads are there and have their digests');
};
