/** Checks permissions and blockers of a merge, in the order of the contract. */
import type { Viewer } from '../../../core/access/viewer.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { hasUnresolvedDiscussions } from '../../../planning/discussions/queries.ts';
import { Failure, conflict, unauthorized } from '../../../platform/errors.ts';
import { isWorkInProgress } from '../../../planning/issuables/text/draft_title.ts';
import { mayMergeInto, loadProtectedBranches } from '../../../code/repository/protection/rules.ts';
import { areChangesRequested } from '../approvals/reviewers.ts';
import type { LoadedMergeRequest } from '../find.ts';
import { isGreen } from './head_pipeline.ts';
import { loadFinalStatus } from './pending_pushes.ts';

/** 406: the request is merged or closed already. */
export const notOpen = (): Failure => new Failure('not_acceptable', { message: 'Method Not Allowed' });

/** 405: the branches conflict, one is missing, or there is nothing to merge. */
export const cannotBeMerged = (): Failure =>
  new Failure('method_not_allowed', { message: 'Branch cannot be merged' });

const notNow = (): Failure => new Failure('method_not_allowed', { message: '405 Method Not Allowed' });

export const otherHead = (): Failure => conflict('SHA does not match HEAD of source branch');

export const mayMerge = async (
  db: Reader,
  viewer: Viewer,
  { project, merge_request }: Pick<LoadedMergeRequest, 'project' | 'merge_request'>,
): Promise<boolean> => {
  const rules = await loadProtectedBranches(db, project.id);
  return mayMergeInto(viewer, project, rules, merge_request.target_branch);
};

/**
 * Requires that the viewer may merge the request and that it is open. Scheduled merges check again, because the
 * project may have disabled merge requests since.
 * @throws Failure 401, 406
 */
export const requireOpen = async (db: Reader, viewer: Viewer, loaded: LoadedMergeRequest): Promise<void> => {
  if (!loaded.isVisibleTo(viewer) || !(await mayMerge(db, viewer, loaded))) throw unauthorized();
  if (loaded.merge_request.state !== 'opened') throw notOpen();
};

/**
 * Returns whether the request is not a draft, no reviewer has requested changes, and, if the project requires it, its
 * discussions are resolved.
 */
export const isReviewed = async (
  db: Reader,
  { project, merge_request }: Pick<LoadedMergeRequest, 'project' | 'merge_request'>,
): Promise<boolean> => {
  if (isWorkInProgress(merge_request.title)) return false;
  if (await areChangesRequested(db, merge_request.id)) return false;
  const mustResolve = project.only_allow_merge_if_all_discussions_are_resolved === 1;
  return !mustResolve || !(await hasUnresolvedDiscussions(db, merge_request.id));
};

/**
 * Runs the checks that need no git: the request is reviewed, and, if the project requires it, its pipeline succeeded.
 * @param deferred true to skip the pipeline, for a merge that waits for it
 * @throws Failure 405
 */
export const requireReady = async (
  db: Reader,
  loaded: LoadedMergeRequest,
  deferred: boolean,
): Promise<void> => {
  const { project, merge_request } = loaded;
  if (!(await isReviewed(db, loaded))) throw notNow();
  if (deferred || project.only_allow_merge_if_pipeline_succeeds !== 1) return;
  if (!(await hasPassed(db, merge_request))) throw notNow();
};

/** Accepts a head without a pipeline once it is certain that none will be created. */
const hasPassed = async (db: Reader, request: LoadedMergeRequest['merge_request']): Promise<boolean> => {
  const status = await loadFinalStatus(db, request);
  return status !== 'coming' && isGreen(status);
};
