/** Reads commits for payloads. Omits commits that git no longer has, because a delivery may be late. */
import { formatSigned, toCommitTitle } from '../../code/repository/commits/json.ts';
import { getRepository } from '../../code/repository/get_repository.ts';
import { isGitFailure } from '../../platform/git/failure.ts';
import type { Commit, FileDiff, Oid } from '../../platform/git/protocol_types.ts';
import type { Repository } from '../../platform/git/repository.ts';
import type { ProjectFacts } from '../changes/snapshots/snapshot.ts';
import { getProjectUrl } from './shared_payload_parts.ts';
import type { Context } from './context.ts';

export const getContextRepository = ({ platform }: Context, project: ProjectFacts): Repository =>
  getRepository(platform, project);

/** Answers `otherwise` for missing or unreadable objects. An unreachable storage still throws: the work is repeated. */
export const orMissing = async <T>(work: Promise<T>, otherwise: T): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (isGitFailure(error) && !isGitFailure(error, 'unavailable')) return otherwise;
    throw error;
  }
};

export const loadCommit = async (
  context: Context,
  project: ProjectFacts,
  id: Oid | null,
): Promise<Commit | null> => {
  if (id === null) return null;
  const reading = getContextRepository(context, project).ask('commits.get', { ids: [id] });
  const { commits } = await orMissing(reading, { commits: [null] });
  return commits[0] ?? null;
};

const commitJson = (context: Context, project: ProjectFacts, commit: Commit) => ({
  id: commit.id,
  message: commit.message,
  title: toCommitTitle(commit.message),
  timestamp: formatSigned(commit.author),
  url: `${getProjectUrl(context, project)}/-/commit/${commit.id}`,
  author: { name: commit.author.name, email: commit.author.email },
});

export const commitOrNull = async (context: Context, project: ProjectFacts, id: Oid | null) => {
  const commit = await loadCommit(context, project, id);
  return commit === null ? null : commitJson(context, project, commit);
};

/** Files of a diff that a payload lists; their texts are not needed. */
const limits = { files: 1_000, lines: 100_000, bytes: 4_000_000, file_bytes: 100_000 };

const groupFiles = (diffs: readonly FileDiff[]) => {
  const added = diffs.filter((one) => one.new_file || one.renamed_file).map(({ new_path }) => new_path);
  const removed = diffs.filter((one) => one.deleted_file || one.renamed_file).map(({ old_path }) => old_path);
  const modified = diffs
    .filter((one) => !one.new_file && !one.renamed_file && !one.deleted_file)
    .map(({ new_path }) => new_path);
  return { added, modified, removed };
};

/** A commit with the names of its files. */
export const pushedCommitJson = async (context: Context, project: ProjectFacts, commit: Commit) => {
  const reading = getContextRepository(context, project).ask('diff.files', {
    from: commit.parents[0] ?? null,
    to: commit.id,
    limits,
  });
  const { diffs } = await orMissing(reading, { diffs: [], files: 0, overflow: true });
  return { ...commitJson(context, project, commit), ...groupFiles(diffs) };
};
