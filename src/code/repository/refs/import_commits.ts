/** Imports commits from one project's repository into another, as from a fork into its merge target. */
import type { Platform } from '../../../core/platform.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import type { Repository, RepositoryLocation } from '../../../platform/git/repository.ts';
import { getRepository } from '../get_repository.ts';
import { pipePack } from './pipe_pack.ts';

/** Hidden refs that never move and are never removed. Each protects its commit from garbage collection. */
export const keepAroundPrefix = 'refs/keep-around/';

const keepAroundRef = (sha: Oid): string => keepAroundPrefix + sha;

/** Keeps commits from garbage collection, independently of branches. */
export const keepCommits = async (repository: Repository, shas: Iterable<Oid>): Promise<void> => {
  const distinct = [...new Set(shas)];
  const { refs } = await repository.ask('refs.get', { names: distinct.map(keepAroundRef) });
  const missing = distinct.filter((_sha, index) => refs[index] === null);
  if (missing.length === 0) return;
  await repository.ask('refs.update', {
    updates: missing.map((sha) => ({ ref: keepAroundRef(sha), old: null, new: sha })),
  });
};

/** Returns the commits that exist in the repository. */
const findExisting = async (repository: Repository, shas: Oid[]): Promise<Oid[]> => {
  const { commits } = await repository.ask('commits.get', { ids: shas });
  return shas.filter((_sha, index) => commits[index] !== null);
};

/** Copies a commit and its history between storages. */
const copyCommit = async (from: Repository, into: Repository, commit: Oid, shared: Oid[]): Promise<void> => {
  const [source, target] = await Promise.all([
    from.stream('pack.read', { commits: [commit], not: await findExisting(from, shared) }),
    into.stream('pack.write', {}),
  ]);
  await pipePack(source, target);
  await keepCommits(into, [commit]);
};

/**
 * Imports a commit of the source with its history into the target, and keeps it from garbage collection.
 * @param shared commits that the target has and the source may have; they are not sent
 */
export const importCommit = async (
  platform: Pick<Platform, 'git'>,
  { source, target }: { source: RepositoryLocation; target: RepositoryLocation },
  commit: Oid,
  shared: Oid[],
): Promise<void> => {
  const into = getRepository(platform, target);
  const [present] = (await into.ask('refs.get', { names: [keepAroundRef(commit)] })).refs;
  if (present !== null) return;
  const from = getRepository(platform, source);
  if (from.storage !== into.storage) return await copyCommit(from, into, commit, shared);
  await into.ask('repository.fetch_commit', { source: from.path, commit, ref: keepAroundRef(commit) });
};
