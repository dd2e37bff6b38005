/** Makes the commits of a merge, as the project merges. No ref moves, and the same input makes the same ids. */
import type { Platform } from '../access/call.ts';
import type { Oid, Signature } from '../git/protocol_types.ts';
import type { Repository } from '../git/repository.ts';
import type { Project } from '../projects/find.ts';
import { repositoryOf } from '../repository/open.ts';

export type Person = { name: string; email: string };

export type Merged = {
  /** Where the target branch is to point. */
  tip: Oid;
  squash_commit_sha: Oid | null;
};

type Wanted = {
  target_sha: Oid;
  source_sha: Oid;
  merge_message: string;
  /** null: the commits come as they are. */
  squash_message: string | null;
  merger: Person;
  author: Person;
  /** Milliseconds. */
  now: number;
};

const signatureOf = ({ name, email }: Person, now: number): Signature => ({
  name,
  email,
  time: Math.floor(now / 1000),
  offset: '+0000',
});

/** The commit that stands for all of the request's; its author is the request's. */
const squash = async (repository: Repository, wanted: Wanted, message: string): Promise<Oid | null> => {
  const { source_sha, target_sha, author, merger, now } = wanted;
  const { id: base } = await repository.ask('commits.merge_base', { ids: [target_sha, source_sha] });
  if (base === null) return null;
  const { id } = await repository.ask('merge.squash', {
    base,
    head: source_sha,
    message,
    author: signatureOf(author, now),
    committer: signatureOf(merger, now),
  });
  return id;
};

const mergeOf = async (repository: Repository, wanted: Wanted, theirs: Oid): Promise<Oid | null> => {
  const { target_sha, merge_message, merger, now } = wanted;
  const signed = signatureOf(merger, now);
  const made = await repository.ask('merge.commit', {
    ours: target_sha,
    theirs,
    message: merge_message,
    author: signed,
    committer: signed,
  });
  return made?.id ?? null;
};

/** Whether the project's way of merging asks that the source be on top of the target, and it is not. */
const needsRebase = async (
  platform: Pick<Platform, 'git'>,
  project: Project,
  { target_sha, source_sha }: { target_sha: Oid; source_sha: Oid },
): Promise<boolean> => {
  if (project.merge_method === 'merge') return false;
  const { is } = await repositoryOf(platform, project).ask('commits.is_ancestor', {
    ancestor: target_sha,
    descendant: source_sha,
  });
  return !is;
};

/** @returns null where they cannot be merged: conflicts, or it must be rebased first */
export const makeMergeCommit = async (
  platform: Pick<Platform, 'git'>,
  project: Project,
  wanted: Wanted,
): Promise<Merged | null> => {
  const repository = repositoryOf(platform, project);
  if (await needsRebase(platform, project, wanted)) return null;
  const { squash_message, source_sha } = wanted;
  const squash_commit_sha = squash_message === null ? null : await squash(repository, wanted, squash_message);
  if (squash_message !== null && squash_commit_sha === null) return null;
  const theirs = squash_commit_sha ?? source_sha;
  const tip = project.merge_method === 'ff' ? theirs : await mergeOf(repository, wanted, theirs);
  return tip === null ? null : { tip, squash_commit_sha };
};
