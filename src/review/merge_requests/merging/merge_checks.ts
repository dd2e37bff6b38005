/** Loads the merge checks of a merge request, for the page that shows them. */
import type { Call } from '../../../core/access/call.ts';
import { may } from '../../../core/access/may.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { JobStatus } from '../../../platform/db/schema/ci.ts';
import type { Divergence } from '../../../platform/git/protocol_types.ts';
import {
  getMergeLevel,
  loadProtectedBranches,
  mayMergeInto,
} from '../../../code/repository/protection/rules.ts';
import type { PipelineRow } from '../../../code/repository/statuses/pipeline_summary.ts';
import { type Discussion, unresolvedDiscussions } from '../../../planning/discussions/queries.ts';
import { isWorkInProgress } from '../../../planning/issuables/text/draft_title.ts';
import { loadProject } from '../../../projects/projects/find.ts';
import { areChangesRequested } from '../approvals/reviewers.ts';
import { findPushableSource } from '../conflicts/load_conflicts.ts';
import { type LoadedMergeRequest, reloadMergeRequest } from '../find.ts';
import { type ConflictingFiles, loadConflictingFiles } from './conflicting_files.ts';
import { loadDivergence } from './divergence.ts';
import { type Head, isGreen, whereHead } from './head_pipeline.ts';
import { checkMergeStatus } from './merge_status.ts';
import { loadFinalStatus } from './pending_pushes.ts';
import { mayRebaseAsCaller } from './rebase.ts';

export type MergeChecks = {
  /** True if the source branch merges into the target branch. */
  branches: 'unchecked' | 'mergeable' | 'conflict' | 'missing' | 'empty';
  /** The files that conflict; null: none, or they are unknown. */
  conflicts: ConflictingFiles | null;
  isDraft: boolean;
  /** A reviewer requested changes. */
  areChangesRequested: boolean;
  unresolved: Discussion[];
  mustResolve: boolean;
  /** The pipeline of the head; null: none, or the caller may not see it. */
  pipeline: PipelineRow | null;
  /** Status that counts for the merge; `coming`: a push is still processed. */
  pipelineStatus: JobStatus | 'coming' | null;
  mustSucceed: boolean;
  /** Difference between source and target branch; null if unknown. */
  divergence: Divergence | null;
  /** The merge method allows only what is on top of the target branch. */
  needsRebase: boolean;
  mayMerge: boolean;
  /** The lowest role that may merge into the protected target; null: not protected, or the caller may not merge. */
  mergeLevel: number | null;
  mayRebase: boolean;
  /** The branches conflict, and the caller may push a merge that resolves it. */
  mayResolve: boolean;
};

const selectHeadPipeline = compiled((db, head: Head) =>
  whereHead(db.selectFrom('pipelines').selectAll(), head).compile(),
);

/** Loads the head pipeline. */
const loadHeadPipeline = async (
  db: Reader,
  { merge_request: { id, head_sha, source_project_id, source_branch } }: LoadedMergeRequest,
): Promise<PipelineRow | null> => {
  if (head_sha === null || source_project_id === null) return null;
  const [row] = await selectHeadPipeline(db, { id, head_sha, source_project_id, source_branch });
  return row ?? null;
};

/** Loads the status that counts for the merge, and the head pipeline if the caller may see it. */
const loadPipelineState = async (
  { db, viewer }: Call,
  loaded: LoadedMergeRequest,
): Promise<{ pipeline: PipelineRow | null; status: MergeChecks['pipelineStatus'] }> => {
  const { merge_request, project } = loaded;
  const { source_project_id: sourceId } = merge_request;
  const row = await loadHeadPipeline(db, loaded);
  const shownStatus = row && { status: row.status, isExternal: row.source === 'external' };
  const status = await loadFinalStatus(db, merge_request, shownStatus);
  if (row === null || sourceId === null) return { pipeline: null, status };
  const source = sourceId === project.id ? project : await loadProject(db, sourceId);
  const isShown = source !== null && may(viewer, 'read_pipeline', source);
  return { pipeline: isShown ? row : null, status };
};

const toBranches = ({ merge_request }: LoadedMergeRequest): MergeChecks['branches'] => {
  const { merge_status, checked_source_sha, checked_target_sha, real_size } = merge_request;
  if (merge_status === 'can_be_merged') return 'mergeable';
  if (merge_status === 'unchecked') return 'unchecked';
  if (checked_source_sha === null || checked_target_sha === null) return 'missing';
  return real_size === null ? 'empty' : 'conflict';
};

const revisionById = compiled((db, { id }: { id: number }) =>
  db.selectFrom('merge_requests').select('revision').where('id', '=', id).compile(),
);

/** Checks the branches of an open request, and reloads it with the result if that changed it. */
export const withMergeStatus = async (
  call: Call,
  loaded: LoadedMergeRequest,
): Promise<LoadedMergeRequest> => {
  const { merge_request, project } = loaded;
  if (merge_request.state !== 'opened') return loaded;
  await checkMergeStatus(call.platform, merge_request, project);
  const [now] = await revisionById(call.db, { id: merge_request.id });
  if (now?.revision === merge_request.revision) return loaded;
  return await reloadMergeRequest(call.db, project, merge_request.id);
};

/** @param loaded an open request whose merge status was checked (`withMergeStatus`) */
export const loadMergeChecks = async (call: Call, loaded: LoadedMergeRequest): Promise<MergeChecks> => {
  const { merge_request, project } = loaded;
  const { db } = call;
  const branches = toBranches(loaded);
  const [unresolved, isWaiting, { pipeline, status }, divergence, conflicts] = await Promise.all([
    unresolvedDiscussions(call, loaded.target),
    merge_request.reviewers.length > 0 && areChangesRequested(db, merge_request.id),
    loadPipelineState(call, loaded),
    loadDivergence(call.platform, loaded.project, loaded.merge_request),
    branches === 'conflict' ? loadConflictingFiles(call, loaded) : null,
  ]);
  const rules = call.signedIn ? await loadProtectedBranches(db, project.id) : [];
  const isAllowed = call.signedIn && mayMergeInto(call.viewer, project, rules, merge_request.target_branch);
  return {
    branches,
    conflicts,
    isDraft: isWorkInProgress(merge_request.title),
    areChangesRequested: isWaiting,
    unresolved,
    mustResolve: project.only_allow_merge_if_all_discussions_are_resolved === 1,
    pipeline,
    // Merging would reveal it to users who can merge.
    pipelineStatus: pipeline !== null || isAllowed ? status : null,
    mustSucceed: project.only_allow_merge_if_pipeline_succeeds === 1,
    divergence,
    needsRebase: project.merge_method !== 'merge' && (divergence?.behind ?? 0) > 0,
    mayMerge: isAllowed,
    mergeLevel: isAllowed ? getMergeLevel(rules, merge_request.target_branch) : null,
    mayRebase: call.signedIn && (await mayRebaseAsCaller(call, loaded)),
    mayResolve: branches === 'conflict' && (await findPushableSource(call, loaded)) !== null,
  };
};

export type PipelineVerdict = 'passed' | 'failed' | 'running' | 'none';

/** Returns what the pipeline means for the merge. */
export const judgePipeline = ({
  pipelineStatus: status,
}: Pick<MergeChecks, 'pipelineStatus'>): PipelineVerdict => {
  if (status === null) return 'none';
  if (status === 'coming') return 'running';
  if (isGreen(status)) return 'passed';
  return ['failed', 'canceled', 'canceling', 'manual'].includes(status) ? 'failed' : 'running';
};

/** True if every check except the pipeline passes. */
const isMergeableApartFromPipeline = (checks: MergeChecks): boolean =>
  checks.branches === 'mergeable' &&
  !checks.isDraft &&
  !checks.areChangesRequested &&
  !checks.needsRebase &&
  !(checks.mustResolve && checks.unresolved.length > 0);

/** True if a merge would be accepted now. */
export const isMergeable = (checks: MergeChecks): boolean =>
  isMergeableApartFromPipeline(checks) &&
  (!checks.mustSucceed || ['passed', 'none'].includes(judgePipeline(checks)));
