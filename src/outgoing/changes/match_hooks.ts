/** Chooses the hooks that receive a change. Pure. */
import { compilePattern } from '../../platform/pattern.ts';
import { matchesWildcard } from '../../platform/wildcard.ts';
import type { EventFlag } from '../hooks/event_flags.ts';
import type { HookFacts } from './hook_cache.ts';
import type { Plan } from './hook_plans.ts';

const isSystemHook = ({ project_id, group_id }: Pick<HookFacts, 'project_id' | 'group_id'>): boolean =>
  project_id === null && group_id === null;

/** Hooks that could receive a change, before its subject is known. */
export const listCandidates = (hooks: readonly HookFacts[], { flags, system }: Plan): HookFacts[] =>
  hooks.filter((hook) => (system && isSystemHook(hook)) || flags.some((flag) => hook[flag] === 1));

/**
 * Hooks that ask for each of these flags: an emoji on a confidential comment needs both the emoji and the confidential
 * comments.
 */
export const listMatching = (
  hooks: readonly HookFacts[],
  { system }: Plan,
  needed: readonly EventFlag[],
): HookFacts[] =>
  hooks.filter(
    (hook) =>
      (system && isSystemHook(hook)) || (needed.length > 0 && needed.every((flag) => hook[flag] === 1)),
  );

/** Returns whether the branch filter of a hook lets a push pass. */
export const matchesBranch = (
  {
    push_events_branch_filter: filter,
    branch_filter_strategy: strategy,
  }: Pick<HookFacts, 'push_events_branch_filter' | 'branch_filter_strategy'>,
  branch: string,
): boolean => {
  if (filter === null || strategy === 'all_branches') return true;
  return strategy === 'regex'
    ? (compilePattern(filter)?.test(branch) ?? false)
    : matchesWildcard(filter, branch);
};
