import { anything, array, bool, int, nullable, object, string } from '../../../platform/http/schema.ts';
import type { ProtectedBranch, ProtectedTag } from './rules.ts';

const levelShape = object({
  id: int,
  access_level: int,
  access_level_description: string,
  user_id: nullable(int),
  group_id: nullable(int),
});

export const protectedBranchShape = object({
  id: int,
  name: string,
  push_access_levels: array(levelShape),
  merge_access_levels: array(levelShape),
  unprotect_access_levels: array(anything),
  allow_force_push: bool,
  code_owner_approval_required: bool,
});

export const protectedTagShape = object({ id: int, name: string, create_access_levels: array(levelShape) });

const descriptions: Record<number, string> = { 0: 'No one', 30: 'Developers + Masters', 40: 'Masters' };

const levelJson = (id: number, access_level: number) => ({
  id,
  access_level,
  access_level_description: descriptions[access_level] ?? String(access_level),
  user_id: null,
  group_id: null,
});

export const protectedBranchJson = (rule: ProtectedBranch) => ({
  id: rule.id,
  name: rule.name,
  push_access_levels: [levelJson(rule.id, rule.push_access_level)],
  merge_access_levels: [levelJson(rule.id, rule.merge_access_level)],
  unprotect_access_levels: [],
  allow_force_push: rule.allow_force_push === 1,
  code_owner_approval_required: false,
});

export const protectedTagJson = (rule: ProtectedTag) => ({
  id: rule.id,
  name: rule.name,
  create_access_levels: [levelJson(rule.id, rule.create_access_level)],
});
