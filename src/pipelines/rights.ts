/** Who may make pipelines, and of which refs. */
import { actingUser } from '../access/acting.ts';
import type { Platform } from '../access/call.ts';
import { may } from '../access/may.ts';
import type { Viewer } from '../access/viewer.ts';
import type { Reader } from '../db/open.ts';
import type { Project } from '../projects/find.ts';
import {
  isProtected,
  mayCreateTag,
  mayMergeInto,
  protectedBranches,
  protectedTags,
} from '../repository/protected.ts';
import type { PipelineRef } from './predefined.ts';

export type Maker = {
  id: number;
  username: string;
  name: string;
  email: string;
  viewer: Viewer;
};

/** null: there is nobody who may sign in. */
export const makerOf = async ({ store, clock }: Platform, userId: number): Promise<Maker | null> => {
  const acting = await actingUser(store.db, userId, clock.now());
  if (acting === null) return null;
  const { id, username, name, email } = acting.user;
  return { id, username, name, email, viewer: acting.viewer };
};

/**
 * Why he may not run anything for the ref: who may not put anything on a protected one may not run its jobs. null: he
 * may.
 */
const refRefusal = async (
  db: Reader,
  project: Project,
  { name, type }: PipelineRef,
  viewer: Viewer,
): Promise<string | null> => {
  const isFree =
    type === 'tag'
      ? mayCreateTag(viewer, project, await protectedTags(db, project.id), name)
      : mayMergeInto(viewer, project, await protectedBranches(db, project.id), name);
  return isFree ? null : `Insufficient permissions for protected ref '${name}'`;
};

/**
 * Whether he may have jobs of this ref run, or ended: of one that exists, as its pipeline and each of its jobs name it.
 * Those of a merge request are of `refs/merge-requests/1/head`, whatever its branch is called, and get nothing that is
 * protected; a rule for all names (`*`) holds for that, too.
 */
export const mayRunOn = async (
  { db, viewer }: { db: Reader; viewer: Viewer },
  project: Project,
  { ref, tag }: { ref: string; tag: number },
): Promise<boolean> =>
  (await refRefusal(db, project, { name: ref, type: tag === 1 ? 'tag' : 'branch' }, viewer)) === null;

/** Whether what is protected is for the jobs of the ref. */
export const getsProtected = async (
  db: Reader,
  projectId: number,
  { name, type }: PipelineRef,
): Promise<boolean> => {
  if (type === 'tag') return isProtected(await protectedTags(db, projectId), name);
  // What a merge request brings is not trusted with it, whatever its branch is called.
  return type === 'branch' && isProtected(await protectedBranches(db, projectId), name);
};

export type Admission = { isProtected: boolean; refused: string | null };

/**
 * Whether a pipeline of the ref gets what is protected, and whether he may make it.
 * @param maker null: a deploy key, which has pushed already
 */
export const admission = async (
  { store: { db } }: Platform,
  project: Project,
  ref: PipelineRef,
  maker: Maker | null,
): Promise<Admission> => {
  if (maker !== null && !may(maker.viewer, 'create_pipeline', project)) {
    return { isProtected: false, refused: 'Insufficient permissions to create a new pipeline' };
  }
  const refused = maker === null ? null : await refRefusal(db, project, ref, maker.viewer);
  return { isProtected: await getsProtected(db, project.id, ref), refused };
};
