/** Decides which ref updates of a push are refused, in the words of the web pages and the API. Pure. */
import { levels } from '../../../core/access/levels.ts';
import { formatBytes } from '../../../platform/format_bytes.ts';
import { type PushedRef, zeroOid } from '../../../platform/git/protocol_types.ts';
import type { Project } from '../../../projects/projects/find.ts';
import {
  type ProtectedBranch,
  type ProtectedTag,
  isProtected,
  mayCreateTag,
  mayForcePush,
  mayPushTo,
} from '../protection/rules.ts';
import { branchPrefix, tagPrefix } from './resolve.ts';
import type { GitUser } from './transfer_access.ts';
import { matchesWildcard } from '../../../platform/wildcard.ts';

export type PushRules = { branches: readonly ProtectedBranch[]; tags: readonly ProtectedTag[] };

/** Maximum problems reported for one push. */
const maxProblems = 10;

/** Returns whether a deploy key with write access may push to the branch: it has the rights of a developer. */
const keyMayPushTo = (rules: readonly ProtectedBranch[], branch: string): boolean => {
  const matchingRules = rules.filter((rule) => matchesWildcard(rule.name, branch));
  const admits = ({ push_access_level: level }: ProtectedBranch): boolean =>
    level > 0 && level <= levels.developer;
  return matchingRules.length === 0 || matchingRules.some(admits);
};

const keyMayCreateTag = (rules: readonly ProtectedTag[], tag: string): boolean => {
  const matchingRules = rules.filter((rule) => matchesWildcard(rule.name, tag));
  return matchingRules.every(({ create_access_level: level }) => level > 0 && level <= levels.developer);
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

const findProblem = (pushing: Pushing, update: PushedRef): string | null => {
  const { ref } = update;
  if (ref.startsWith(branchPrefix)) return branchProblem(pushing, update, ref.slice(branchPrefix.length));
  return ref.startsWith(tagPrefix) ? tagProblem(pushing, update, ref.slice(tagPrefix.length)) : null;
};

/** Returns messages for the pusher; empty if the push is allowed. */
export const pushProblems = (pushing: Pushing, updates: readonly PushedRef[]): string[] => {
  const problems = updates.map((update) => findProblem(pushing, update)).filter((text) => text !== null);
  return [...new Set(problems)].slice(0, maxProblems);
};

/** @param action what adds the file: a push or a commit */
export const fileProblem = (largest: number, limit: number | null, action = 'push'): string | null =>
  limit === null || largest <= limit
    ? null
    : `The ${action} has a file of ${formatBytes(largest)}; ` +
      `the largest that may be pushed is ${formatBytes(limit)}.`;

/**
 * Checks the size of the repository after the push. A push without new objects counts as 0, so that deletions are always
 * possible.
 */
export const sizeProblem = (size: number, limit: number | null, action = 'push'): string | null =>
  limit === null || size <= limit
    ? null
    : `The ${action} was rejected: with it the repository exceeds its size limit of ${formatBytes(limit)} ` +
      `by ${formatBytes(size - limit)}. Please contact your administrator.`;
