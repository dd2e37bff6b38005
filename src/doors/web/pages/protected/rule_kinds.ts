/** Differences between protected branches and protected tags. */
import {
  addBranchRule,
  addTagRule,
  changeBranchRule,
  removeBranchRule,
  removeTagRule,
} from '../../../../code/repository/protection/change_rules.ts';
import {
  type RuleInput,
  readBranchChanges,
  readBranchRule,
  readTagLevel,
} from '../../../../code/repository/protection/rule_input.ts';
import {
  type ProtectedBranch,
  type ProtectedTag,
  loadProtectedBranches,
  loadProtectedTags,
} from '../../../../code/repository/protection/rules.ts';
import { branchPrefix, tagPrefix } from '../../../../code/repository/refs/resolve.ts';
import type { Call } from '../../../../core/access/call.ts';
import type { Checked } from '../../../../platform/http/precondition.ts';
import type { Reader } from '../../../../platform/db/open.ts';
import type { Project } from '../../../../projects/projects/find.ts';

export type LevelName = 'push_access_level' | 'merge_access_level' | 'create_access_level';

export type Rule = Partial<ProtectedBranch> & Partial<ProtectedTag> & { id: number; name: string };

export type RuleValues = RuleInput & { create_access_level?: number | undefined };

export type Kind = {
  noun: 'protected_branches' | 'protected_tags';
  title: string;
  word: 'branch' | 'tag';
  plural: 'branches' | 'tags';
  prefix: string;
  intro: string;
  /** The roles that a rule sets, with their labels. */
  levels: readonly (readonly [LevelName, string])[];
  hasForcePush: boolean;
  load: (db: Reader, projectId: number) => Promise<readonly Rule[]>;
  add: (call: Call, project: Project, name: string, values: RuleValues) => Promise<unknown>;
  /** Changes a rule; null: rules are only added and removed. */
  change:
    | ((call: Call, project: Project, name: string, values: Checked<RuleValues, Rule>) => Promise<unknown>)
    | null;
  /** @returns whether the rule existed */
  remove: (call: Call, project: Project, name: string) => Promise<boolean>;
};

export const branchKind: Kind = {
  noun: 'protected_branches',
  title: 'Protected branches',
  word: 'branch',
  plural: 'branches',
  prefix: branchPrefix,
  intro:
    'A protected branch can be changed only by the roles named here, and git cannot delete it. Other branches are open to developers.',
  levels: [
    ['push_access_level', 'Allowed to push'],
    ['merge_access_level', 'Allowed to merge'],
  ],
  hasForcePush: true,
  load: loadProtectedBranches,
  add: async (call, project, name, values) =>
    await addBranchRule(call, project, name, readBranchRule(name, values)),
  change: async (call, project, name, { check, ...values }) =>
    await changeBranchRule(call, project, name, {
      ...readBranchChanges(values),
      ...(check !== undefined && { check }),
    }),
  remove: removeBranchRule,
};

export const tagKind: Kind = {
  noun: 'protected_tags',
  title: 'Protected tags',
  word: 'tag',
  plural: 'tags',
  prefix: tagPrefix,
  intro:
    'A protected tag can be created only by the roles named here, and git cannot move or delete it. Other tags are open to developers.',
  levels: [['create_access_level', 'Allowed to create']],
  hasForcePush: false,
  load: loadProtectedTags,
  add: async (call, project, name, { create_access_level }) =>
    await addTagRule(call, project, name, readTagLevel(name, create_access_level)),
  change: null,
  remove: removeTagRule,
};
