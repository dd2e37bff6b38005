/** Resolves revisions and ref names to commits. Only ids are passed on to object requests. */
import { type FailureKind, Failure, notFound } from '../../../platform/errors.ts';
import type { CallOptions } from '../../../platform/git/connection.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { Commit, Oid, Ref, Sight } from '../../../platform/git/protocol_types.ts';
import type { Repository } from '../../../platform/git/repository.ts';
import { type Code, getDefaultRef, storageSight } from '../find_code.ts';

export const branchPrefix = 'refs/heads/';
export const tagPrefix = 'refs/tags/';

export type Resolved = { commit: Oid; ref: string | null };

/** Maximum characters of a revision; longer than any ref name. */
const maxRevisionLength = 1000;

/** Returns null if the storage rejects the name as invalid. */
const nullIfInvalidName = async <T>(work: Promise<T>): Promise<T | null> => {
  try {
    return await work;
  } catch (error) {
    if (isGitFailure(error, 'invalid')) return null;
    throw error;
  }
};

/** Resolves a full or abbreviated id, a branch, a tag or `HEAD` to a commit; null if it does not exist. */
export const resolveRevision = async (code: Code, revision: string): Promise<Resolved | null> => {
  const { project, repository, sight } = code;
  if (revision === '' || revision.length > maxRevisionLength || revision.startsWith('-')) return null;
  const default_ref = getDefaultRef(project);
  const resolve = async (seen: Sight): Promise<Resolved | null> =>
    await nullIfInvalidName(repository.ask('revision.resolve', { revision, default_ref, ...seen }));
  const resolved = await resolve(storageSight(code));
  if (resolved !== null || sight === undefined || !/^[0-9a-f]{40}$/i.test(revision)) return resolved;
  // The commit of a visible pipeline stays readable after its branch is deleted.
  return (await sight.hasPipeline(revision.toLowerCase())) ? await resolve({}) : null;
};

/**
 * Resolves a revision.
 * @param noun the missing thing that the error names
 * @throws Failure 404 `404 Commit Not Found`
 */
export const requireRevision = async (code: Code, revision: string, noun = 'Commit'): Promise<Resolved> => {
  const resolved = await resolveRevision(code, revision);
  if (resolved === null) throw notFound(noun);
  return resolved;
};

/** Resolves `ref`, or the default branch without it. @throws Failure 404 */
export const requireRef = async (code: Code, ref: string | undefined, noun: string): Promise<Resolved> =>
  await requireRevision(code, ref === undefined || ref === '' ? 'HEAD' : ref, noun);

/** Loads refs by full name, in the same order; null for missing refs. */
export const loadRefs = async (
  repository: Repository,
  names: string[],
  options?: CallOptions,
): Promise<(Ref | null)[]> => {
  if (names.length === 0) return [];
  const result = await nullIfInvalidName(repository.ask('refs.get', { names }, undefined, options));
  return result?.refs ?? names.map(() => null);
};

export const findRef = async (repository: Repository, name: string): Promise<Ref | null> =>
  (await loadRefs(repository, [name]))[0] ?? null;

/** @throws Failure 404 `404 Branch Not Found` */
export const requireBranch = async ({ repository }: Code, branch: string): Promise<Ref & { commit: Oid }> => {
  const ref = await findRef(repository, branchPrefix + branch);
  if (ref?.commit === null || ref?.commit === undefined) throw notFound('Branch');
  return { ...ref, commit: ref.commit };
};

/** Loads commits by id, each id once. */
export const loadCommits = async (
  repository: Repository,
  ids: Iterable<Oid | null>,
): Promise<Map<Oid, Commit>> => {
  const distinct = [...new Set(ids)].filter((id) => id !== null);
  if (distinct.length === 0) return new Map();
  const { commits } = await repository.ask('commits.get', { ids: distinct });
  return new Map(commits.filter((commit) => commit !== null).map((commit) => [commit.id, commit]));
};

/** @throws Failure 404 `404 Commit Not Found` */
export const requireCommit = async (code: Code, revision: string): Promise<Commit> => {
  const { commit: id } = await requireRevision(code, revision);
  const commit = (await loadCommits(code.repository, [id])).get(id);
  if (commit === undefined) throw notFound('Commit');
  return commit;
};

/** Creates a failure with exactly this message. */
export const refusal = (kind: FailureKind, message: string): Failure => new Failure(kind, { message });
