/** Diff versions of a merge request, as far as comments on their lines need them. */
import { sql } from 'kysely';
import type { Platform } from '../access/call.ts';
import type { Reader } from '../db/open.ts';
import { isGitFailure } from '../git/failure.ts';
import type { RepositoryPlace } from '../git/repository.ts';
import { repositoryOf } from '../repository/open.ts';
import type { Shas, VersionFile } from './trace.ts';

/** A file of a version; its text is empty where it was too long to be stored, too. */
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
 * The version that these commits are of; null: the merge request never had it. Where the target alone went on, several
 * versions have the same diff: then the one with the very start, else the newest.
 */
export const versionOf = async (db: Reader, mergeRequestId: number, shas: Shas): Promise<Version | null> => {
  const row = await versions(db, mergeRequestId)
    .where('head_commit_sha', '=', shas.head_sha)
    .where('base_commit_sha', '=', shas.base_sha)
    .orderBy(sql`case when start_commit_sha = ${shas.start_sha} then 0 else 1 end`)
    .orderBy('merge_request_diffs.id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return versionOfRow(row);
};

/** The newest version; null: there is none with commits. */
export const latestVersion = async (db: Reader, mergeRequestId: number): Promise<Version | null> =>
  versionOfRow(
    await versions(db, mergeRequestId).orderBy('merge_request_diffs.id', 'desc').limit(1).executeTakeFirst(),
  );

/** Enough for any file that people read line by line. */
export const wholeFiles = { files: 10, lines: 200_000, bytes: 20_000_000, file_bytes: 20_000_000 };

/** One file at two commits. */
export type FileAt = { from: string; from_path: string; to: string; to_path: string };

const unreadable = ['missing', 'no_repository', 'too_large'] as const;

/** What changed in a file between two commits; `''`: nothing, null: it cannot be told, as where one of them is gone. */
export const diffBetween = async (
  platform: Platform,
  project: RepositoryPlace,
  { from, from_path, to, to_path }: FileAt,
): Promise<string | null> => {
  if (from === to) return '';
  const paths = [...new Set([from_path, to_path])];
  try {
    const { diffs } = await repositoryOf(platform, project).ask('diff.files', {
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

/** The whole text of a file's diff, also of one that was too long to be stored. */
export const diffTextOf = async (
  platform: Platform,
  project: RepositoryPlace,
  { base_sha, head_sha }: Shas,
  file: VersionDiff,
): Promise<string> => {
  if (file.diff !== '') return file.diff;
  const paths = [...new Set([file.old_path, file.new_path])];
  try {
    const asked = { from: base_sha, to: head_sha, limits: wholeFiles, paths };
    const { diffs } = await repositoryOf(platform, project).ask('diff.files', asked);
    return diffs.find(({ new_path }) => new_path === file.new_path)?.diff ?? '';
  } catch (error) {
    if (isGitFailure(error)) return '';
    throw error;
  }
};
