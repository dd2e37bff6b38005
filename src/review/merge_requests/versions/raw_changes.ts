/** Reads the changes of a merge request as git writes them: a diff, or a patch of each commit for `git am`. */
import type { Call } from '../../../core/access/call.ts';
import { maxPatchBytes, readPatch, readRawDiff } from '../../../code/repository/commits/commit_patch.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { Failure } from '../../../platform/errors.ts';
import type { Repository } from '../../../platform/git/repository.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { LoadedMergeRequest } from '../find.ts';
import type { VersionRow } from './json.ts';
import { latestVersion } from './queries.ts';

/** Commits of one patch. */
const maxCommits = 200;

const tooLarge = (): Failure => new Failure('unprocessable', { message: 'The changes are too large' });

type Changed = VersionRow & { head_commit_sha: string };

const readDiff = async (repository: Repository, version: Changed): Promise<Buffer> => {
  const { base_commit_sha: base, head_commit_sha: id } = version;
  return await readRawDiff({ repository }, { id, parents: base === null ? [] : [base] });
};

const readPatches = async (repository: Repository, version: Changed): Promise<Buffer> => {
  const { start_commit_sha: start, head_commit_sha: head } = version;
  const { commits } = await repository.ask('commits.list', {
    from: [head],
    not: start === null ? [] : [start],
    skip: 0,
    limit: maxCommits + 1,
  });
  if (commits.length > maxCommits) throw tooLarge();
  // Omits merges, like git.
  const series = commits.filter(({ parents }) => parents.length < 2).toReversed();
  const patches: Buffer[] = [];
  let bytes = 0;
  for (const [at, commit] of series.entries()) {
    const number = series.length === 1 ? '' : ` ${at + 1}/${series.length}`;
    const patch = await readPatch({ repository }, commit, `PATCH${number}`);
    bytes += patch.length;
    if (bytes > maxPatchBytes) throw tooLarge();
    patches.push(patch);
  }
  return Buffer.concat(patches);
};

/**
 * Reads the latest version. It is empty without commits, or where git has them no longer.
 * @throws Failure 422 if it is too large
 */
export const readRawChanges = async (
  { db, platform }: Call,
  { merge_request, project }: LoadedMergeRequest,
  format: 'diff' | 'patch',
): Promise<Buffer> => {
  const version = await latestVersion(db, merge_request);
  if (version === null || version.head_commit_sha === null) return Buffer.alloc(0);
  const changed = { ...version, head_commit_sha: version.head_commit_sha };
  const repository = getRepository(platform, project);
  try {
    return await (format === 'diff' ? readDiff(repository, changed) : readPatches(repository, changed));
  } catch (error) {
    if (isGitFailure(error, 'missing')) return Buffer.alloc(0);
    throw error;
  }
};
