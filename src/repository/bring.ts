/** Brings commits of one project into another, as those of a fork into what they are to be merged into. */
import { pipeline } from 'node:stream/promises';
import type { Platform } from '../access/call.ts';
import type { Oid } from '../git/protocol_types.ts';
import type { Repository, RepositoryPlace } from '../git/repository.ts';
import { repositoryOf } from './open.ts';

/** A ref that nobody sees or moves: what it names is never collected. */
const keepAroundRef = (sha: Oid): string => `refs/keep-around/${sha}`;

/** Makes commits stay, whatever becomes of the branches that lead to them. */
export const keepCommits = async (repository: Repository, shas: Iterable<Oid>): Promise<void> => {
  const wanted = [...new Set(shas)];
  const { refs } = await repository.ask('refs.get', { names: wanted.map(keepAroundRef) });
  const missing = wanted.filter((_sha, index) => refs[index] === null);
  if (missing.length === 0) return;
  await repository.ask('refs.update', {
    updates: missing.map((sha) => ({ ref: keepAroundRef(sha), old: null, new: sha })),
  });
};

/** Those of the commits that a repository has. */
const known = async (repository: Repository, shas: Oid[]): Promise<Oid[]> => {
  const { commits } = await repository.ask('commits.get', { ids: shas });
  return shas.filter((_sha, index) => commits[index] !== null);
};

/** From one storage to another: the storages do not know each other. */
const carry = async (from: Repository, into: Repository, commit: Oid, shared: Oid[]): Promise<void> => {
  const [taken, put] = await Promise.all([
    from.stream('pack.read', { commits: [commit], not: await known(from, shared) }),
    into.stream('pack.write', {}),
  ]);
  taken.writable.end();
  put.readable.resume();
  try {
    await pipeline(taken.readable, put.writable);
    await Promise.all([taken.result, put.result]);
  } finally {
    taken.destroy();
    put.destroy();
  }
  await keepCommits(into, [commit]);
};

/**
 * A commit of the source, with all it comes of, is in the target's repository, and stays.
 * @param shared commits that the target has, and the source may have: they need not be sent
 */
export const bringCommit = async (
  platform: Pick<Platform, 'git'>,
  { source, target }: { source: RepositoryPlace; target: RepositoryPlace },
  commit: Oid,
  shared: Oid[],
): Promise<void> => {
  const into = repositoryOf(platform, target);
  const [present] = (await into.ask('refs.get', { names: [keepAroundRef(commit)] })).refs;
  if (present !== null) return;
  const from = repositoryOf(platform, source);
  if (from.storage !== into.storage) return await carry(from, into, commit, shared);
  await into.ask('repository.bring', { source: from.path, commit, ref: keepAroundRef(commit) });
};
