/** Queries of diff versions. Their long texts never change, so `diff_cache.ts` caches them. */
import { compiled } from '../../../platform/db/compiled_query.ts';
import { immutableRowCache } from '../../../platform/db/immutable_rows.ts';
import { insertRow, insertRows } from '../../../platform/db/insert.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import type { MergeRequestDiffsTable } from '../../../platform/db/schema/review.ts';
import { notFound } from '../../../platform/errors.ts';
import { type Page, type PageRequest, withTotal } from '../../../platform/http/page.ts';
import type { VersionCommit, VersionRow } from './json.ts';

/** The content of a version, with its long texts. */
export type NewVersion = Pick<
  MergeRequestDiffsTable,
  'state' | 'head_commit_sha' | 'base_commit_sha' | 'start_commit_sha' | 'real_size' | 'commits_count'
> & {
  /** JSON arrays. */
  commits: string;
  diffs: string;
  /** Ids of the commits, newest first. */
  shas: string[];
};

/** Rows per insert, far below the parameter limit of either engine. */
const rowsAtOnce = 2_000;

export const insertVersionRows = async (
  tx: Tx,
  merge_request_id: number,
  { commits, diffs, shas, ...version }: NewVersion & { pushed_by_id: number | null },
): Promise<number> => {
  const diff_id = await insertRow(tx.db, 'merge_request_diffs', {
    ...version,
    merge_request_id,
    created_at: tx.now,
  });
  await insertRows(tx.db, 'merge_request_diff_texts', [{ diff_id, commits, diffs }]);
  for (let at = 0; at < shas.length; at += rowsAtOnce) {
    const rows = shas
      .slice(at, at + rowsAtOnce)
      .map((sha, index) => ({ diff_id, sha, position: at + index }));
    await insertRows(tx.db, 'merge_request_commits', rows);
  }
  return diff_id;
};

const versionById = compiled((db, { id }: { id: number }) =>
  db.selectFrom('merge_request_diffs').selectAll().where('id', '=', id).compile(),
);

/** Rows never change. */
const cachedVersions = immutableRowCache<number, VersionRow>(2_000);

/** Loads the latest version of a request; null if it has none. */
export const latestVersion = async (
  db: Reader,
  { diff_id }: { diff_id: number | null },
): Promise<VersionRow | null> => {
  if (diff_id === null) return null;
  const cached = db.isTransaction ? undefined : cachedVersions.get(db, diff_id);
  if (cached !== undefined) return cached;
  const [row] = await versionById(db, { id: diff_id });
  if (row !== undefined && !db.isTransaction) cachedVersions.set(db, diff_id, row);
  return row ?? null;
};

/** Loads a version of a request. @throws Failure 404, also for a version of another request */
export const findVersion = async (
  db: Reader,
  mergeRequestId: number,
  versionId: number,
): Promise<VersionRow> => {
  const [row] = await versionById(db, { id: versionId });
  if (row?.merge_request_id !== mergeRequestId) throw notFound();
  return row;
};

const selectVersions = (db: Reader, id: number) =>
  db.selectFrom('merge_request_diffs').where('merge_request_id', '=', id).selectAll().orderBy('id', 'desc');

const selectNewest = (limit: number) =>
  compiled((db, { id }: { id: number }) => selectVersions(db, id).limit(limit).compile());

/** By the length of the page, of which there are a hundred at most. */
const newestVersions = new Map<number, ReturnType<typeof selectNewest>>();

/** Lists the versions of a request, newest first. */
export const listVersions = async (
  db: Reader,
  mergeRequestId: number,
  page: PageRequest,
): Promise<Page<VersionRow>> => {
  const { limit, offset } = page;
  const newest = newestVersions.getOrInsertComputed(limit, selectNewest);
  const rows =
    offset === 0
      ? await newest(db, { id: mergeRequestId })
      : await selectVersions(db, mergeRequestId).limit(limit).offset(offset).execute();
  return await withTotal(page, rows, async () => ({ total: await countVersions(db, mergeRequestId) }));
};

/** Loads the stored commits of a version, newest first. */
export const loadVersionCommits = async (db: Reader, diffId: number): Promise<VersionCommit[]> => {
  const row = await db
    .selectFrom('merge_request_diff_texts')
    .select('commits')
    .where('diff_id', '=', diffId)
    .executeTakeFirst();
  return row === undefined ? [] : (JSON.parse(row.commits) as VersionCommit[]);
};

const versionsCount = compiled((db, { id }: { id: number }) =>
  db
    .selectFrom('merge_request_diffs')
    .where('merge_request_id', '=', id)
    .select((is) => is.fn.countAll<number>().as('total'))
    .compile(),
);

export const countVersions = async (db: Reader, mergeRequestId: number): Promise<number> =>
  (await versionsCount(db, { id: mergeRequestId }))[0]?.total ?? 0;

/** Loads the ids of the stored commits of a version, newest first. */
export const loadCommitIds = async (db: Reader, diffId: number): Promise<string[]> => {
  const rows = await db
    .selectFrom('merge_request_commits')
    .select('sha')
    .where('diff_id', '=', diffId)
    .orderBy('position')
    .execute();
  return rows.map(({ sha }) => sha);
};
