/**
 * Synchronizes the code index with the default branch of a project. The rows contain the progress, so an interrupted or
 * repeated run continues where it stopped.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Platform } from '../../../core/platform.ts';
import type { Store } from '../../../platform/db/open.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { Oid, TreeEntry } from '../../../platform/git/protocol_types.ts';
import type { Repository } from '../../../platform/git/repository.ts';
import { type Project, loadProject } from '../../../projects/projects/find.ts';
import { enqueueCodeIndex } from '../../../projects/projects/enqueue_code_index.ts';
import { getDefaultRef } from '../find_code.ts';
import { getRepository } from '../get_repository.ts';
import type { RefsMoved } from '../refs/refs_moved.ts';
import { findRef } from '../refs/resolve.ts';

/** Maximum indexed files of a branch; further files are not found. */
const maxIndexedFiles = 50_000;
/** Bytes. Larger files and binary files are found only by path. */
const maxIndexedBytes = 256 * 1024;
/** Bytes; longer paths are not found. */
const maxPathBytes = 1_000;

/** Amount that one transaction writes: on SQLite about 10 ms of work, because no request is served meanwhile. */
const batch = { rows: 200, bytes: 65_536 };
/** Maximum blobs to read concurrently. */
const readsAtOnce = 16;
/** On SQLite, share of the time reserved for requests: three quarters. */
const restsFor = 3;
/** Milliseconds after which the rest is left to another run, so that a stop need not wait long. */
const maxDuration = 5_000;

type IndexedFile = { path: string; blob_id: Oid; content: string | null };

type Place = { store: Store; project: Project; repository: Repository };

const isIndexed = ({ type, mode, path }: TreeEntry): boolean =>
  type === 'blob' && mode !== '120000' && Buffer.byteLength(path) <= maxPathBytes;

/** Lists the blobs of a commit by path; none of a tree that is too large to list. */
const listBlobs = async (repository: Repository, commit: Oid): Promise<Map<string, Oid>> => {
  const request = { commit, path: '', recursive: true, offset: 0, limit: maxIndexedFiles };
  try {
    const listing = await repository.ask('tree.list', request);
    const entries = listing?.entries ?? [];
    return new Map(entries.filter(isIndexed).map(({ path, id }) => [path, id]));
  } catch (error) {
    if (isGitFailure(error, 'too_large')) return new Map();
    throw error;
  }
};

const maxRowsPerRead = 2_000;

/**
 * Deletes files that the branch no longer has, and keeps in `blobs` only files that are not indexed in their current
 * state.
 */
const compareIndexed = async ({ store, project }: Place, blobs: Map<string, Oid>): Promise<void> => {
  let after = '';
  for (;;) {
    const rows = await store.db
      .selectFrom('code_files')
      .select(['id', 'path', 'blob_id'])
      .where('project_id', '=', project.id)
      .where('path', '>', after)
      .orderBy('path')
      .limit(maxRowsPerRead)
      .execute();
    const gone = rows.filter(({ path }) => !blobs.has(path)).map(({ id }) => id);
    for (const { path, blob_id } of rows) if (blobs.get(path) === blob_id) blobs.delete(path);
    await deleteFiles(store, gone);
    const last = rows.at(-1);
    if (last === undefined || rows.length < maxRowsPerRead) return;
    after = last.path;
  }
};

const deleteFiles = async (store: Store, ids: readonly number[]): Promise<void> => {
  for (let at = 0; at < ids.length; at += batch.rows) {
    await store.write(async ({ db, dialect }) => {
      const some = ids.slice(at, at + batch.rows);
      await db.deleteFrom('code_files').where(dialect.oneOf('id', some)).execute();
    });
  }
};

/** Reads a blob as text; null if it is binary or too large. */
const readText = async (repository: Repository, id: Oid): Promise<string | null> => {
  const { result, body } = await repository.read('blob.get', { id, max: maxIndexedBytes });
  return result?.whole === true && !body.includes(0) ? body.toString('utf8') : null;
};

const readFiles = async (
  repository: Repository,
  blobs: readonly [path: string, id: Oid][],
): Promise<IndexedFile[]> =>
  await Promise.all(
    blobs.map(async ([path, blob_id]) => ({ path, blob_id, content: await readText(repository, blob_id) })),
  );

const storeFiles = async ({ store, project }: Place, files: readonly IndexedFile[]): Promise<void> => {
  const rows = files.map((file) => ({ project_id: project.id, ...file }));
  await store.write(
    async ({ db }) =>
      await db
        .insertInto('code_files')
        .values(rows)
        .onConflict((clash) =>
          clash.columns(['project_id', 'path']).doUpdateSet((old) => ({
            blob_id: old.ref('excluded.blob_id'),
            content: old.ref('excluded.content'),
          })),
        )
        .execute(),
  );
};

/** Divides files into what single transactions write. */
const makeBatches = (files: readonly IndexedFile[]): IndexedFile[][] => {
  const batches: IndexedFile[][] = [];
  let bytes = Infinity;
  for (const file of files) {
    const size = file.content?.length ?? 0;
    if (bytes + size > batch.bytes) {
      batches.push([]);
      bytes = 0;
    }
    bytes += size;
    batches.at(-1)?.push(file);
  }
  return batches;
};

/** @returns whether all are stored; false: the time is over */
const indexBlobs = async (
  place: Place,
  blobs: ReadonlyMap<string, Oid>,
  maxMilliseconds: number,
): Promise<boolean> => {
  const began = performance.now();
  const pending = [...blobs];
  for (let at = 0; at < pending.length; at += readsAtOnce) {
    const files = await readFiles(place.repository, pending.slice(at, at + readsAtOnce));
    for (const some of makeBatches(files)) {
      const started = performance.now();
      await storeFiles(place, some);
      if (place.store.file !== null) await wait((performance.now() - started) * restsFor);
    }
    const isLast = at + readsAtOnce >= pending.length;
    if (!isLast && performance.now() - began >= maxMilliseconds) return false;
  }
  return true;
};

const loadIndexedCommit = async ({ db }: Store, projectId: number): Promise<Oid | null> => {
  const query = db.selectFrom('code_indexes').select('commit_id').where('project_id', '=', projectId);
  return (await query.executeTakeFirst())?.commit_id ?? null;
};

const storeIndexedCommit = async ({ store, project }: Place, commit: Oid | null): Promise<void> =>
  await store.write(async ({ db }) => {
    if (commit === null) {
      await db.deleteFrom('code_indexes').where('project_id', '=', project.id).execute();
      return;
    }
    await db
      .insertInto('code_indexes')
      .values({ project_id: project.id, commit_id: commit })
      .onConflict((clash) => clash.column('project_id').doUpdateSet({ commit_id: commit }))
      .execute();
  });

/** Indexes the current default branch. Enqueues another run if one run is not enough. */
export const indexCode = async (
  platform: Platform,
  projectId: number,
  maxMilliseconds = maxDuration,
): Promise<void> => {
  const { store } = platform;
  const project = await loadProject(store.db, projectId);
  if (project === null) return; // `purgeProject` removes its rows
  const place = { store, project, repository: getRepository(platform, project) };
  const ref = getDefaultRef(project);
  const commit = ref === null ? null : ((await findRef(place.repository, ref))?.commit ?? null);
  if (commit === (await loadIndexedCommit(store, projectId))) return;
  const blobs = commit === null ? new Map<string, Oid>() : await listBlobs(place.repository, commit);
  await compareIndexed(place, blobs);
  if (await indexBlobs(place, blobs, maxMilliseconds)) await storeIndexedCommit(place, commit);
  else await store.write(async (tx) => await enqueueCodeIndex(tx, projectId));
};

/** Enqueues the indexing of a project if a push has moved its default branch. */
export const indexMovedBranch = async (store: Store, { project_id, updates }: RefsMoved): Promise<void> => {
  const project = await store.db
    .selectFrom('projects')
    .select('default_branch')
    .where('id', '=', project_id)
    .where(sql<boolean>`deleted_at is null`)
    .executeTakeFirst();
  const ref = project === undefined ? null : getDefaultRef(project);
  if (ref === null || !updates.some((update) => update.ref === ref)) return;
  await store.write(async (tx) => await enqueueCodeIndex(tx, project_id));
};
