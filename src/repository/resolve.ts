/** From the texts of users to commits and refs. Only ids go on from here to what works on objects. */
import { type FailureKind, Failure, notFound } from '../errors.ts';
import { isGitFailure } from '../git/failure.ts';
import type { Commit, Oid, Ref, Sight } from '../git/protocol_types.ts';
import type { Repository } from '../git/repository.ts';
import { type Code, defaultRefOf, storageSight } from './code.ts';

export const branchPrefix = 'refs/heads/';
export const tagPrefix = 'refs/tags/';

export type Resolved = { commit: Oid; ref: string | null };

/** Longer than any name of a ref. */
const longestRevision = 1000;

/** What no storage takes for a name is the name of nothing. */
const unlessNoName = async <T>(work: Promise<T>): Promise<T | null> => {
  try {
    return await work;
  } catch (error) {
    if (isGitFailure(error, 'invalid')) return null;
    throw error;
  }
};

/** The commit that a text names: an id, whole or in part, a branch, a tag, `HEAD`; null: none. */
export const resolveRevision = async (code: Code, revision: string): Promise<Resolved | null> => {
  const { project, repository, sight } = code;
  if (revision === '' || revision.length > longestRevision || revision.startsWith('-')) return null;
  const default_ref = defaultRefOf(project);
  const resolve = async (seen: Sight): Promise<Resolved | null> =>
    await unlessNoName(repository.ask('revision.resolve', { revision, default_ref, ...seen }));
  const found = await resolve(storageSight(code));
  if (found !== null || sight === undefined || !/^[0-9a-f]{40}$/i.test(revision)) return found;
  // What a pipeline ran for stays readable, whatever becomes of its branch.
  return (await sight.hasPipeline(revision.toLowerCase())) ? await resolve({}) : null;
};

/**
 * @param noun of the refusal
 * @throws Failure 404 `404 Commit Not Found`
 */
export const requireRevision = async (code: Code, revision: string, noun = 'Commit'): Promise<Resolved> => {
  const found = await resolveRevision(code, revision);
  if (found === null) throw notFound(noun);
  return found;
};

/** What `ref` names, or without it the default branch. */
export const requireRef = async (code: Code, ref: string | undefined, noun: string): Promise<Resolved> =>
  await requireRevision(code, ref === undefined || ref === '' ? 'HEAD' : ref, noun);

/** The refs of these full names, in their order. */
export const refsNamed = async (repository: Repository, names: string[]): Promise<(Ref | null)[]> => {
  if (names.length === 0) return [];
  const found = await unlessNoName(repository.ask('refs.get', { names }));
  return found?.refs ?? names.map(() => null);
};

export const findRef = async (repository: Repository, name: string): Promise<Ref | null> =>
  (await refsNamed(repository, [name]))[0] ?? null;

/** @throws Failure 404 `404 Branch Not Found` */
export const requireBranch = async ({ repository }: Code, branch: string): Promise<Ref & { commit: Oid }> => {
  const ref = await findRef(repository, branchPrefix + branch);
  if (ref?.commit === null || ref?.commit === undefined) throw notFound('Branch');
  return { ...ref, commit: ref.commit };
};

/** Commits by id, each asked for once. */
export const commitsById = async (
  repository: Repository,
  ids: Iterable<Oid | null>,
): Promise<Map<Oid, Commit>> => {
  const wanted = [...new Set(ids)].filter((id) => id !== null);
  if (wanted.length === 0) return new Map();
  const { commits } = await repository.ask('commits.get', { ids: wanted });
  return new Map(commits.filter((commit) => commit !== null).map((commit) => [commit.id, commit]));
};

/** @throws Failure 404 `404 Commit Not Found` */
export const requireCommit = async (code: Code, revision: string): Promise<Commit> => {
  const { commit: id } = await requireRevision(code, revision);
  const commit = (await commitsById(code.repository, [id])).get(id);
  if (commit === undefined) throw notFound('Commit');
  return commit;
};

/** A refusal whose message is exactly this. */
export const refusal = (kind: FailureKind, message: string): Failure => new Failure(kind, { message });
