/** Loads the diff versions of a merge request that comments on lines refer to. */
import { sql } from 'kysely';
import type { Platform } from '../../core/platform.ts';
import type { Reader } from '../../platform/db/open.ts';
import { isGitFailure } from '../../platform/git/failure.ts';
import type { RepositoryLocation } from '../../platform/git/repository.ts';
import { getRepository } from '../../code/repository/get_repository.ts';
import type { Shas, VersionFile } from './trace_position.ts';

/** A file of a version. Its diff is also empty if it was too long to be stored. */
export type VersionDiff = VersionFile & { new_file: boolean; deleted_file: boolean };

export type Version = Shas & { files: VersionDiff[] };

type Row = {
  base_commit_sha: string | null;
  start_commit_sha: string | null;
  head_commit_sha: string | null;
  diffs: string;
};

const versionOfRow = (row: Row | undefined): Version | null => {
  if (row === undefined || row.head_commit_sha === null || row.base_commit_sha === null) return null;
  return {
    base_sha: row.base_commit_sha,
    start_sha: row.start_commit_sha ?? row.base_commit_sha,
    head_sha: row.head_commit_sha,
    files: JSON.parse(row.diffs) as VersionDiff[],
  };
};

const versions = (db: Reader, mergeRequestId: number) =>
  db
    .selectFrom('merge_request_diffs')
    .innerJoin('merge_request_diff_texts', 'merge_request_diff_texts.diff_id', 'merge_request_diffs.id')
    .select(['base_commit_sha', 'start_commit_sha', 'head_commit_sha', 'diffs'])
    .where('merge_request_id', '=', mergeRequestId);

/**
 * Loads the version with these commits; null if the merge request never had it. If only the target branch advanced,
 * several versions have the same diff: prefers the version with the exact start commit, otherwise the newest.
 */
export const loadVersion = async (
  db: Reader,
  mergeRequestId: number,
  shas: Shas,
): Promise<Version | null> => {
  const row = await versions(db, mergeRequestId)
    .where('head_commit_sha', '=', shas.head_sha)
    .where('base_commit_sha', '=', shas.base_sha)
    .orderBy(sql`case when start_commit_sha = ${shas.start_sha} then 0 else 1 end`)
    .orderBy('merge_request_diffs.id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return versionOfRow(row);
};

/** Loads the newest version; null if none has commits. */
export const latestVersion = async (db: Reader, mergeRequestId: number): Promise<Version | null> =>
  versionOfRow(
    await versions(db, mergeRequestId).orderBy('merge_request_diffs.id', 'desc').limit(1).executeTakeFirst(),
  );

/** Returns whether a merge request has, or had, a commit. */
export const hasCommit = async (db: Reader, mergeRequestId: number, sha: string): Promise<boolean> => {
  const row = await db
    .selectFrom('merge_request_diffs')
    .innerJoin('merge_request_commits', 'merge_request_commits.diff_id', 'merge_request_diffs.id')
    .select('merge_request_diffs.id')
    .where('merge_request_id', '=', mergeRequestId)
    .where('sha', '=', sha)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

/** Returns whether a merge request has, or had, a version of these commits. */
export const isVersion = async (
  db: Reader,
  mergeRequestId: number,
  { head_sha, base_sha }: Pick<Shas, 'head_sha' | 'base_sha'>,
): Promise<boolean> => {
  const row = await db
    .selectFrom('merge_request_diffs')
    .select('id')
    .where('merge_request_id', '=', mergeRequestId)
    .where('head_commit_sha', '=', head_sha)
    .where('base_commit_sha', '=', base_sha)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

/** Limits of a diff, large enough for any file that people comment on by line. */
export const wholeFiles = { files: 10, lines: 200_000, bytes: 20_000_000, file_bytes: 20_000_000 };

/** A file at two commits. */
export type FileAt = { from: string; from_path: string; to: string; to_path: string };

const unreadable = ['missing', 'no_repository', 'too_large'] as const;

/** Returns the diff of a file between two commits: `''` if unchanged, null if unknown, such as for a deleted commit. */
export const diffBetween = async (
  platform: Platform,
  project: RepositoryLocation,
  { from, from_path, to, to_path }: FileAt,
): Promise<string | null> => {
  if (from === to) return '';
  const paths = [...new Set([from_path, to_path])];
  try {
    const { diffs } = await getRepository(platform, project).ask('diff.files', {
      from,
      to,
      limits: wholeFiles,
      paths,
    });
    const diff = diffs.find((one) => one.old_path === from_path && !one.new_file);
    if (diff === undefined) return '';
    return diff.deleted_file || diff.too_large || diff.binary ? null : diff.diff;
  } catch (error) {
    if (unreadable.some((kind) => isGitFailure(error, kind))) return null;
    throw error;
  }
};

/** Loads the whole diff of a file, including one that was too long to be stored. */
export const loadDiffText = async (
  platform: Platform,
  project: RepositoryLocation,
  { base_sha, head_sha }: Shas,
  file: VersionDiff,
): Promise<string> => {
  if (file.diff !== '') return file.diff;
  const paths = [...new Set([file.old_path, file.new_path])];
  try {
    const query = { from: base_sha, to: head_sha, limits: wholeFiles, paths };
    const { diffs } = await getRepository(platform, project).ask('diff.files', query);
    return diffs.find(({ new_path }) => new_path === file.new_path)?.diff ?? '';
  } catch (error) {
    if (isGitFailure(error)) return '';
    throw error;
  }
};
