/** Protected branches and tags: users who may push, merge or create. Names may contain the wildcard `*`. */
import { may } from '../../../core/access/may.ts';
import { type Viewer, getProjectLevel } from '../../../core/access/viewer.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import { keepUntilChange } from '../../../platform/db/keep_until_change.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { Flag } from '../../../platform/db/schema/column_types.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { matchesWildcard } from '../../../platform/wildcard.ts';

export type ProtectedBranch = {
  id: number;
  name: string;
  push_access_level: number;
  merge_access_level: number;
  allow_force_push: Flag;
};

export type ProtectedTag = { id: number; name: string; create_access_level: number };

const selectProtectedBranches = compiled((db, { id }: { id: number }) =>
  db
    .selectFrom('protected_branches')
    .select(['id', 'name', 'push_access_level', 'merge_access_level', 'allow_force_push'])
    .where('project_id', '=', id)
    .orderBy('name')
    .compile(),
);

const keepRules = keepUntilChange<readonly ProtectedBranch[]>(['protected_branches'], 2_000);

export const loadProtectedBranches = async (
  db: Reader,
  projectId: number,
): Promise<readonly ProtectedBranch[]> =>
  await keepRules(db, String(projectId), async () => await selectProtectedBranches(db, { id: projectId }));

export const loadProtectedTags = async (db: Reader, projectId: number): Promise<ProtectedTag[]> =>
  await db
    .selectFrom('protected_tags')
    .select(['id', 'name', 'create_access_level'])
    .where('project_id', '=', projectId)
    .orderBy('name')
    .execute();

export const isProtected = (rules: readonly { name: string }[], name: string): boolean =>
  rules.some((rule) => matchesWildcard(rule.name, name));

/** Returns whether the viewer has the level. A level of 0 admits nobody, not even administrators. */
const hasLevel = (viewer: Viewer, project: Project, level: number): boolean =>
  level > 0 && (viewer.admin || getProjectLevel(viewer, project) >= level);

/**
 * Returns whether the viewer may push to the branch. If several rules match, one rule that admits the viewer is enough.
 */
export const mayPushTo = (
  viewer: Viewer,
  project: Project,
  rules: readonly ProtectedBranch[],
  branch: string,
): boolean => {
  if (!may(viewer, 'push_code', project)) return false;
  const matchingRules = rules.filter((rule) => matchesWildcard(rule.name, branch));
  return (
    matchingRules.length === 0 ||
    matchingRules.some((rule) => hasLevel(viewer, project, rule.push_access_level))
  );
};

/** Returns whether the viewer may merge into the branch. Permission to push implies it. */
export const mayMergeInto = (
  viewer: Viewer,
  project: Project,
  rules: readonly ProtectedBranch[],
  branch: string,
): boolean => {
  if (!may(viewer, 'push_code', project)) return false;
  const matchingRules = rules.filter((rule) => matchesWildcard(rule.name, branch));
  return (
    matchingRules.length === 0 ||
    matchingRules.some(
      (rule) =>
        hasLevel(viewer, project, rule.merge_access_level) ||
        hasLevel(viewer, project, rule.push_access_level),
    )
  );
};

/**
 * Returns the lowest role that may merge into a protected branch; null if nobody may, or the branch is not protected.
 * Permission to push implies it.
 */
export const getMergeLevel = (rules: readonly ProtectedBranch[], branch: string): number | null => {
  const levels = rules
    .filter((rule) => matchesWildcard(rule.name, branch))
    .flatMap((rule) => [rule.merge_access_level, rule.push_access_level])
    .filter((level) => level > 0);
  return levels.length === 0 ? null : Math.min(...levels);
};

/** Returns whether force pushes to the branch are allowed. */
export const mayForcePush = (rules: readonly ProtectedBranch[], branch: string): boolean => {
  const matchingRules = rules.filter((rule) => matchesWildcard(rule.name, branch));
  return matchingRules.every((rule) => rule.allow_force_push === 1);
};

/** Returns whether the viewer may create, move or delete the tag. */
export const mayCreateTag = (
  viewer: Viewer,
  project: Project,
  rules: readonly ProtectedTag[],
  tag: string,
): boolean => {
  if (!may(viewer, 'push_code', project)) return false;
  const matchingRules = rules.filter((rule) => matchesWildcard(rule.name, tag));
  return (
    matchingRules.length === 0 ||
    matchingRules.some((rule) => hasLevel(viewer, project, rule.create_access_level))
  );
};
