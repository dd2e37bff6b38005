/** Reads what clients send for rules of protected branches and tags. */
import { toFlag } from '../../../platform/db/schema/column_types.ts';
import { invalid } from '../../../platform/errors.ts';
import type { BranchRule } from './change_rules.ts';

/** Roles that a rule may require; 0: nobody. */
const ruleLevels = [0, 30, 40] as const;

const defaultLevel = 40;

const requireLevel = (name: string, value: number | undefined): number | undefined => {
  if (value !== undefined && !(ruleLevels as readonly number[]).includes(value))
    throw invalid({ [name]: ['does not have a valid value'] });
  return value;
};

export type RuleInput = {
  push_access_level?: number | undefined;
  merge_access_level?: number | undefined;
  allow_force_push?: boolean | undefined;
};

/** Returns the requested changes of a rule. @throws Failure 400 for an unknown level */
export const readBranchChanges = (input: RuleInput): Partial<BranchRule> => {
  const push = requireLevel('push_access_level', input.push_access_level);
  const merge = requireLevel('merge_access_level', input.merge_access_level);
  return {
    ...(push !== undefined && { push_access_level: push }),
    ...(merge !== undefined && { merge_access_level: merge }),
    ...(input.allow_force_push !== undefined && { allow_force_push: toFlag(input.allow_force_push) }),
  };
};

const requireName = (name: string): void => {
  if (name.trim() === '') throw invalid({ name: ["can't be blank"] });
};

/** Returns a new rule. @throws Failure 400 for a blank name or an unknown level */
export const readBranchRule = (name: string, input: RuleInput): BranchRule => {
  requireName(name);
  const usual = {
    push_access_level: defaultLevel,
    merge_access_level: defaultLevel,
    allow_force_push: 0,
  } as const;
  return { ...usual, ...readBranchChanges(input) };
};

/** Returns the role that a new rule of tags requires. @throws Failure 400 for a blank name or an unknown level */
export const readTagLevel = (name: string, create_access_level: number | undefined): number => {
  requireName(name);
  return requireLevel('create_access_level', create_access_level) ?? defaultLevel;
};
