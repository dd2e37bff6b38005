/** Who may merge a request, and what stands against it: the answers of the contract, in its order. */
import type { Viewer } from '../access/viewer.ts';
import type { Reader } from '../db/open.ts';
import { hasUnresolvedDiscussions } from '../discussions/queries.ts';
import { Failure, conflict, unauthorized } from '../errors.ts';
import { isWorkInProgress } from '../issuables/title_state.ts';
import { mayMergeInto, protectedBranches } from '../repository/protected.ts';
import type { FoundMergeRequest } from './find.ts';
import { isGreen } from './head_pipeline.ts';
import { certainStatus } from './unfollowed.ts';

/** 406: it is merged or closed already. */
export const notOpen = (): Failure => new Failure('not_acceptable', { message: 'Method Not Allowed' });

/** 405: conflicts, a branch that is gone, nothing to merge. */
export const cannotBeMerged = (): Failure =>
  new Failure('method_not_allowed', { message: 'Branch cannot be merged' });

const notNow = (): Failure => new Failure('method_not_allowed', { message: '405 Method Not Allowed' });

export const otherHead = (): Failure => conflict('SHA does not match HEAD of source branch');

export const mayMerge = async (
  db: Reader,
  viewer: Viewer,
  { project, merge_request }: Pick<FoundMergeRequest, 'project' | 'merge_request'>,
): Promise<boolean> => {
  const rules = await protectedBranches(db, project.id);
  return mayMergeInto(viewer, project, rules, merge_request.target_branch);
};

/**
 * Also of one that was asked to be merged later: its project's requests may be switched off since.
 * @throws Failure 401, 406
 */
export const requireOpen = async (db: Reader, viewer: Viewer, found: FoundMergeRequest): Promise<void> => {
  if (!found.isVisibleTo(viewer) || !(await mayMerge(db, viewer, found))) throw unauthorized();
  if (found.merge_request.state !== 'opened') throw notOpen();
};

/**
 * What is asked for without git: it is no draft, its discussions are resolved and its pipeline is green where the
 * project wants that.
 * @param deferred the pipeline is what is waited for
 * @throws Failure 405
 */
export const requireReady = async (
  db: Reader,
  { project, merge_request }: FoundMergeRequest,
  deferred: boolean,
): Promise<void> => {
  if (isWorkInProgress(merge_request.title)) throw notNow();
  const mustResolve = project.only_allow_merge_if_all_discussions_are_resolved === 1;
  if (mustResolve && (await hasUnresolvedDiscussions(db, merge_request.id))) throw notNow();
  if (deferred || project.only_allow_merge_if_pipeline_succeeds !== 1) return;
  if (!(await isPassed(db, merge_request))) throw notNow();
};

/** Where there is no pipeline, nothing is asked for: once it is certain that none comes. */
const isPassed = async (db: Reader, request: FoundMergeRequest['merge_request']): Promise<boolean> => {
  const status = await certainStatus(db, request);
  return status !== 'coming' && isGreen(status);
};
