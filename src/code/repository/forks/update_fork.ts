/** Updates the default branch of a fork from its upstream. */
import { type Call, requireUser } from '../../../core/access/call.ts';
import { isWider } from '../../../identity/groups/rules.ts';
import { forbidden, notFound } from '../../../platform/errors.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { type Code, openCode } from '../find_code.ts';
import { loadProtectedBranches, mayPushTo } from '../protection/rules.ts';
import { changeRefs, requirePushPermission, retryOnConflict } from '../refs/authorized_ref_changes.ts';
import { getGitIdentity } from '../refs/git_identity.ts';
import { importCommit } from '../refs/import_commits.ts';
import { requireRoom } from '../refs/require_room.ts';
import { branchPrefix } from '../refs/resolve.ts';
import { findDefaultHead, loadUpstream } from './upstream.ts';

/**
 * @property files names of conflicting files, at most 1,000; may be empty, for example when a folder moved to two
 * places
 */
export type ForkUpdate =
  | { result: 'unchanged' | 'fast_forward' | 'merged' }
  | { result: 'conflict'; files: string[]; upstream: Project };

type Sides = { branch: string; fork: Code; upstream: Code; head: Oid; theirs: Oid };

/** Returns whether only members can read the code. */
const isForMembers = ({ visibility, repository_access_level }: Project): boolean =>
  visibility === 'private' || repository_access_level === 'private';

/** Returns whether the fork would show commits to users who cannot see the upstream. */
export const wouldReveal = (fork: Project, upstream: Project): boolean =>
  isWider(fork.visibility, upstream.visibility) || (isForMembers(upstream) && !isForMembers(fork));

/** Returns whether the caller may update the fork from its upstream. */
export const mayUpdateFork = async (
  { db, viewer, signedIn }: Pick<Call, 'db' | 'viewer' | 'signedIn'>,
  fork: Project,
  upstream: Project,
): Promise<boolean> => {
  const { default_branch: branch } = fork;
  if (!signedIn || branch === null || wouldReveal(fork, upstream)) return false;
  return mayPushTo(viewer, fork, await loadProtectedBranches(db, fork.id), branch);
};

/** Finds the new head of the branch, and how it came to be. */
const combine = async (call: Call, sides: Sides): Promise<{ head: Oid; update: ForkUpdate }> => {
  const { branch, fork, upstream, head, theirs } = sides;
  const { repository } = fork;
  const contains = async (ancestor: Oid, descendant: Oid): Promise<boolean> =>
    (await repository.ask('commits.is_ancestor', { ancestor, descendant })).is;
  if (await contains(theirs, head)) return { head, update: { result: 'unchanged' } };
  if (await contains(head, theirs)) return { head: theirs, update: { result: 'fast_forward' } };
  const author = getGitIdentity(call, requireUser(call));
  const merged = await repository.ask('merge.commit', {
    ours: head,
    theirs,
    // Without the path of the upstream: not all who read the fork may see it.
    message: `Merge branch '${upstream.project.default_branch}' of the upstream project into '${branch}'\n`,
    author,
    committer: author,
  });
  if (merged !== null) return { head: merged.id, update: { result: 'merged' } };
  const { conflicts: files } = await repository.ask('merge.check', { ours: head, theirs });
  return { head, update: { result: 'conflict', files, upstream: upstream.project } };
};

const attempt = async (call: Call, fork: Code, upstream: Code, branch: string): Promise<ForkUpdate> => {
  const [head, theirs] = await Promise.all([findDefaultHead(fork), findDefaultHead(upstream)]);
  if (head === null || theirs === null) throw notFound('Branch');
  if (head === theirs) return { result: 'unchanged' };
  const places = { source: upstream.project, target: fork.project };
  // A full repository accepts no further commits.
  await requireRoom(call, fork);
  await importCommit(call.platform, places, theirs, [head]);
  const combined = await combine(call, { branch, fork, upstream, head, theirs });
  if (combined.head === head) return combined.update;
  await requireRoom(call, fork);
  await changeRefs(call, {
    project: fork.project,
    kind: 'commit',
    updates: [{ ref: branchPrefix + branch, old: head, new: combined.head }],
    branches: requirePushPermission(call, branch),
  });
  return combined.update;
};

/**
 * Moves the default branch of a fork to the head of its upstream, or merges the upstream into it if both have diverged.
 * The same events, pipelines and hooks follow as from a push.
 * @throws Failure 404 if the caller may not read the upstream, 403 if they may not push to the branch
 */
export const updateFork = async (call: Call, project: Project): Promise<ForkUpdate> => {
  const { default_branch: branch } = project;
  const upstream = await loadUpstream(call, project);
  if (upstream === null || branch === null) throw notFound('Upstream');
  requirePushPermission(call, branch)(project, await loadProtectedBranches(call.db, project.id));
  if (wouldReveal(project, upstream)) {
    throw forbidden('The fork is open to more users than the project that it was forked from');
  }
  const [fork, above] = [openCode(call, project), openCode(call, upstream)];
  return await retryOnConflict(async () => await attempt(call, fork, above, branch));
};
