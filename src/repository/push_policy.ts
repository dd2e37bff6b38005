/** What the service refuses of a push, in the words of the pages and the API: pure. */
import { levels } from '../access/levels.ts';
import { type PushedRef, zeroOid } from '../git/protocol_types.ts';
import type { Project } from '../projects/find.ts';
import {
  type ProtectedBranch,
  type ProtectedTag,
  isProtected,
  mayCreateTag,
  mayForcePush,
  mayPushTo,
} from './protected.ts';
import { branchPrefix, tagPrefix } from './resolve.ts';
import type { GitUser } from './transfer.ts';
import { matchesWildcard } from '../wildcard.ts';

export type PushRules = { branches: readonly ProtectedBranch[]; tags: readonly ProtectedTag[] };

/** Problems told of one push. */
const mostTold = 10;

/** A deploy key that may write pushes as a developer does. */
const keyMayPushTo = (rules: readonly ProtectedBranch[], branch: string): boolean => {
  const meant = rules.filter((rule) => matchesWildcard(rule.name, branch));
  const admits = ({ push_access_level: level }: ProtectedBranch): boolean =>
    level > 0 && level <= levels.developer;
  return meant.length === 0 || meant.some(admits);
};

const keyMayCreateTag = (rules: readonly ProtectedTag[], tag: string): boolean => {
  const meant = rules.filter((rule) => matchesWildcard(rule.name, tag));
  return meant.every(({ create_access_level: level }) => level > 0 && level <= levels.developer);
};

type Pushing = { user: GitUser; project: Project; rules: PushRules };

const branchProblem = (
  { user, project, rules }: Pushing,
  update: PushedRef,
  branch: string,
): string | null => {
  const { branches } = rules;
  if (update.new === zeroOid && branch === project.default_branch)
    return 'The default branch of a project cannot be deleted.';
  if (!isProtected(branches, branch)) return null;
  if (update.new === zeroOid) return 'You can only delete protected branches using the API.';
  if (update.forced && !mayForcePush(branches, branch))
    return 'You are not allowed to force push code to a protected branch on this project.';
  const mayPush =
    user.deployKey === null
      ? mayPushTo(user.viewer, project, branches, branch)
      : keyMayPushTo(branches, branch);
  return mayPush ? null : 'You are not allowed to push code to protected branches on this project.';
};

const tagProblem = ({ user, project, rules }: Pushing, update: PushedRef, tag: string): string | null => {
  const { tags } = rules;
  if (!isProtected(tags, tag)) return null;
  if (update.new === zeroOid) return 'You are not allowed to delete protected tags from this project.';
  if (update.old !== zeroOid) return 'Protected tags cannot be updated.';
  const mayCreate =
    user.deployKey === null ? mayCreateTag(user.viewer, project, tags, tag) : keyMayCreateTag(tags, tag);
  return mayCreate ? null : 'You are not allowed to create this tag as it is protected.';
};

const problemOf = (pushing: Pushing, update: PushedRef): string | null => {
  const { ref } = update;
  if (ref.startsWith(branchPrefix)) return branchProblem(pushing, update, ref.slice(branchPrefix.length));
  return ref.startsWith(tagPrefix) ? tagProblem(pushing, update, ref.slice(tagPrefix.length)) : null;
};

/** Lines for the pusher; empty: nothing is wrong. */
export const pushProblems = (pushing: Pushing, updates: readonly PushedRef[]): string[] => {
  const problems = updates.map((update) => problemOf(pushing, update)).filter((text) => text !== null);
  return [...new Set(problems)].slice(0, mostTold);
};

const shownSize = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1).replace(/\.0$/, '')} MB`;

/** @param deed what brings the file */
export const fileProblem = (largest: number, limit: number | null, deed = 'push'): string | null =>
  limit === null || largest <= limit
    ? null
    : `The ${deed} has a file of ${shownSize(largest)}; ` +
      `the largest that may be pushed is ${shownSize(limit)}.`;

/** Of a repository with all that it is to have. What brings nothing has no size, so that room can be made. */
export const sizeProblem = (size: number, limit: number | null, deed = 'push'): string | null =>
  limit === null || size <= limit
    ? null
    : `The ${deed} was rejected: with it the repository exceeds its size limit of ${shownSize(limit)} ` +
      `by ${shownSize(size - limit)}. Please contact your administrator.`;
