/** Creates the commits of a merge by the project's merge method. Moves no ref; the same input gives the same ids. */
import type { Platform } from '../../../core/platform.ts';
import type { Oid, Signature } from '../../../platform/git/protocol_types.ts';
import type { Repository } from '../../../platform/git/repository.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';

export type Person = { name: string; email: string };

export type MergeCommits = {
  /** New head of the target branch. */
  tip: Oid;
  squash_commit_sha: Oid | null;
};

type MergeInput = {
  target_sha: Oid;
  source_sha: Oid;
  merge_message: string;
  /** null: commits are not squashed. */
  squash_message: string | null;
  merger: Person;
  author: Person;
  /** Milliseconds. */
  now: number;
};

const toSignature = ({ name, email }: Person, now: number): Signature => ({
  name,
  email,
  time: Math.floor(now / 1000),
  offset: '+0000',
});

/** Squashes the request's commits into one. Its author is the author of the request. */
const squash = async (repository: Repository, input: MergeInput, message: string): Promise<Oid | null> => {
  const { source_sha, target_sha, author, merger, now } = input;
  const { id: base } = await repository.ask('commits.merge_base', { ids: [target_sha, source_sha] });
  if (base === null) return null;
  const { id } = await repository.ask('merge.squash', {
    base,
    head: source_sha,
    message,
    author: toSignature(author, now),
    committer: toSignature(merger, now),
  });
  return id;
};

const createMergeCommit = async (
  repository: Repository,
  input: MergeInput,
  theirs: Oid,
): Promise<Oid | null> => {
  const { target_sha, merge_message, merger, now } = input;
  const signed = toSignature(merger, now);
  const created = await repository.ask('merge.commit', {
    ours: target_sha,
    theirs,
    message: merge_message,
    author: signed,
    committer: signed,
  });
  return created?.id ?? null;
};

/** Returns whether the merge method requires the source to be rebased onto the target first. */
const needsRebase = async (
  platform: Pick<Platform, 'git'>,
  project: Project,
  { target_sha, source_sha }: { target_sha: Oid; source_sha: Oid },
): Promise<boolean> => {
  if (project.merge_method === 'merge') return false;
  const { is } = await getRepository(platform, project).ask('commits.is_ancestor', {
    ancestor: target_sha,
    descendant: source_sha,
  });
  return !is;
};

/** @returns null for conflicts or a required rebase */
export const makeMergeCommit = async (
  platform: Pick<Platform, 'git'>,
  project: Project,
  input: MergeInput,
): Promise<MergeCommits | null> => {
  const repository = getRepository(platform, project);
  if (await needsRebase(platform, project, input)) return null;
  const { squash_message, source_sha } = input;
  const squash_commit_sha = squash_message === null ? null : await squash(repository, input, squash_message);
  if (squash_message !== null && squash_commit_sha === null) return null;
  const theirs = squash_commit_sha ?? source_sha;
  const tip = project.merge_method === 'ff' ? theirs : await createMergeCommit(repository, input, theirs);
  return tip === null ? null : { tip, squash_commit_sha };
};
