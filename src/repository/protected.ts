/** Protected branches and tags: who may push to them, merge into them, make them. Names may have a `*` in them. */
import { may } from '../access/may.ts';
import { type Viewer, projectLevel } from '../access/viewer.ts';
import { compiled } from '../db/compiled.ts';
import type { Reader } from '../db/open.ts';
import type { Flag } from '../db/schema.ts';
import type { Project } from '../projects/find.ts';
import { matchesWildcard } from '../wildcard.ts';

export type ProtectedBranch = {
  id: number;
  name: string;
  push_access_level: number;
  merge_access_level: number;
  allow_force_push: Flag;
};

export type ProtectedTag = { id: number; name: string; create_access_level: number };

const branchesOf = compiled((db, { id }: { id: number }) =>
  db
    .selectFrom('protected_branches')
    .select(['id', 'name', 'push_access_level', 'merge_access_level', 'allow_force_push'])
    .where('project_id', '=', id)
    .orderBy('name')
    .compile(),
);

export const protectedBranches = async (db: Reader, projectId: number): Promise<ProtectedBranch[]> =>
  await branchesOf(db, { id: projectId });

export const protectedTags = async (db: Reader, projectId: number): Promise<ProtectedTag[]> =>
  await db
    .selectFrom('protected_tags')
    .select(['id', 'name', 'create_access_level'])
    .where('project_id', '=', projectId)
    .orderBy('name')
    .execute();

export const isProtected = (rules: readonly { name: string }[], name: string): boolean =>
  rules.some((rule) => matchesWildcard(rule.name, name));

/** A level of 0 admits nobody, administrators neither. */
const hasLevel = (viewer: Viewer, project: Project, level: number): boolean =>
  level > 0 && (viewer.admin || projectLevel(viewer, project) >= level);

/** Whether the viewer may push to the branch: of several rules that mean it, one that lets him suffices. */
export const mayPushTo = (
  viewer: Viewer,
  project: Project,
  rules: readonly ProtectedBranch[],
  branch: string,
): boolean => {
  if (!may(viewer, 'push_code', project)) return false;
  const meant = rules.filter((rule) => matchesWildcard(rule.name, branch));
  return meant.length === 0 || meant.some((rule) => hasLevel(viewer, project, rule.push_access_level));
};

/** Whether the viewer may merge into the branch: who may push to it may, too. */
export const mayMergeInto = (
  viewer: Viewer,
  project: Project,
  rules: readonly ProtectedBranch[],
  branch: string,
): boolean => {
  if (!may(viewer, 'push_code', project)) return false;
  const meant = rules.filter((rule) => matchesWildcard(rule.name, branch));
  return (
    meant.length === 0 ||
    meant.some(
      (rule) =>
        hasLevel(viewer, project, rule.merge_access_level) ||
        hasLevel(viewer, project, rule.push_access_level),
    )
  );
};

/** Whether history may be rewritten there. */
export const mayForcePush = (rules: readonly ProtectedBranch[], branch: string): boolean => {
  const meant = rules.filter((rule) => matchesWildcard(rule.name, branch));
  return meant.every((rule) => rule.allow_force_push === 1);
};

/** Whether the viewer may make, move or delete the tag. */
export const mayCreateTag = (
  viewer: Viewer,
  project: Project,
  rules: readonly ProtectedTag[],
  tag: string,
): boolean => {
  if (!may(viewer, 'push_code', project)) return false;
  const meant = rules.filter((rule) => matchesWildcard(rule.name, tag));
  return meant.length === 0 || meant.some((rule) => hasLevel(viewer, project, rule.create_access_level));
};
