/** Authorizes the creation of pipelines and access to protected refs. */
import { loadActingUser } from '../../../core/access/background_actor.ts';
import type { Platform } from '../../../core/platform.ts';
import { may } from '../../../core/access/may.ts';
import type { Viewer } from '../../../core/access/viewer.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { Project } from '../../../projects/projects/find.ts';
import {
  isProtected,
  mayCreateTag,
  mayMergeInto,
  loadProtectedBranches,
  loadProtectedTags,
} from '../../../code/repository/protection/rules.ts';
import type { PipelineRef } from '../predefined_variables/pipeline_predefined.ts';

export type PipelineCreator = {
  id: number;
  username: string;
  name: string;
  email: string;
  viewer: Viewer;
};

/** Loads the user on whose behalf a pipeline is created; null if they are blocked or deleted. */
export const loadCreator = async (
  { store, clock }: Platform,
  userId: number,
): Promise<PipelineCreator | null> => {
  const acting = await loadActingUser(store.db, userId, clock.now());
  if (acting === null) return null;
  const { id, username, name, email } = acting.user;
  return { id, username, name, email, viewer: acting.viewer };
};

/**
 * Returns why the user cannot run jobs on the ref, or null. Running jobs on a protected ref requires permission to push
 * to it or merge into it.
 */
const getRefRefusal = async (
  db: Reader,
  project: Project,
  { name, type }: PipelineRef,
  viewer: Viewer,
): Promise<string | null> => {
  const isAllowed =
    type === 'tag'
      ? mayCreateTag(viewer, project, await loadProtectedTags(db, project.id), name)
      : mayMergeInto(viewer, project, await loadProtectedBranches(db, project.id), name);
  return isAllowed ? null : `Insufficient permissions for protected ref '${name}'`;
};

/**
 * Returns whether the caller can run or cancel jobs of an existing pipeline's ref. Merge request pipelines have the ref
 * `refs/merge-requests/<iid>/head`, so only a protection rule for all names (`*`) matches them.
 */
export const mayRunJobsOn = async (
  { db, viewer }: { db: Reader; viewer: Viewer },
  project: Project,
  { ref, tag }: { ref: string; tag: number },
): Promise<boolean> =>
  (await getRefRefusal(db, project, { name: ref, type: tag === 1 ? 'tag' : 'branch' }, viewer)) === null;

/** Returns whether jobs of the ref get protected variables and runners. */
export const canUseProtected = async (
  db: Reader,
  projectId: number,
  { name, type }: PipelineRef,
): Promise<boolean> => {
  if (type === 'tag') return isProtected(await loadProtectedTags(db, projectId), name);
  // Merge request pipelines never do, even if their branch name is protected.
  return type === 'branch' && isProtected(await loadProtectedBranches(db, projectId), name);
};

/** Like `mayRunJobsOn`, for several refs of a project: loads its protection rules once. */
export const loadRunRights = async (
  { db, viewer }: { db: Reader; viewer: Viewer },
  project: Project,
): Promise<(revision: { ref: string; tag: number }) => boolean> => {
  const [branches, tags] = await Promise.all([
    loadProtectedBranches(db, project.id),
    loadProtectedTags(db, project.id),
  ]);
  return ({ ref, tag }) =>
    tag === 1 ? mayCreateTag(viewer, project, tags, ref) : mayMergeInto(viewer, project, branches, ref);
};

export type PipelineAuthorization = { isProtected: boolean; refused: string | null };

/**
 * Checks whether the user can create a pipeline on the ref, and whether its jobs get protected variables and runners.
 * @param creator null for a deploy key, whose push was already authorized
 */
export const authorizePipeline = async (
  { store: { db } }: Platform,
  project: Project,
  ref: PipelineRef,
  creator: PipelineCreator | null,
): Promise<PipelineAuthorization> => {
  if (creator !== null && !may(creator.viewer, 'create_pipeline', project)) {
    return { isProtected: false, refused: 'Insufficient permissions to create a new pipeline' };
  }
  const refused = creator === null ? null : await getRefRefusal(db, project, ref, creator.viewer);
  return { isProtected: await canUseProtected(db, project.id, ref), refused };
};
