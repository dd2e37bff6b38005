/** Computes `detailed_merge_status` from the project settings, without the row of the request. */
import type { Reader } from '../../platform/db/open.ts';
import type { JobStatus } from '../../platform/db/schema/ci.ts';
import { JsonText } from '../../platform/http/endpoint.ts';
import { withMembers } from '../../planning/issuables/lists/json_cache.ts';
import { type Project, loadProject } from '../../projects/projects/find.ts';
import { areChangesRequested } from './approvals/reviewers.ts';
import { detailedStatus } from './fields.ts';
import { isGreen } from './merging/head_pipeline.ts';
import type { CheckedRequest } from './merging/merge_status.ts';
import { loadFinalStatus } from './merging/pending_pushes.ts';
import type { MergeRequestRow } from './rows.ts';

type DetailedRow = CheckedRequest & {
  /** 1 if a discussion is unresolved. */
  unresolved: number | null;
  /** 1 if a reviewer waits for changes. */
  changes_requested: number | null;
  diff_id: number | null;
};

const goingOn: readonly JobStatus[] = ['created', 'waiting_for_resource', 'scheduled', 'pending', 'running'];

const toBlockingStatus = (status: JobStatus | null): string | null => {
  if (status === null || isGreen(status)) return null;
  return goingOn.includes(status) ? 'ci_still_running' : 'ci_must_pass';
};

const checkPipeline = async (db: Reader, request: DetailedRow): Promise<string | null> => {
  const status = await loadFinalStatus(db, request);
  return status === 'coming' ? 'ci_still_running' : toBlockingStatus(status);
};

type Version = { base_commit_sha: string | null; real_size: string | null };

/** Loads the merge base and the size of the latest version. */
const loadVersion = async (db: Reader, { diff_id }: Pick<DetailedRow, 'diff_id'>): Promise<Version> => {
  const versions = db.selectFrom('merge_request_diffs').select(['base_commit_sha', 'real_size']);
  const version = diff_id === null ? undefined : await versions.where('id', '=', diff_id).executeTakeFirst();
  return version ?? { base_commit_sha: null, real_size: null };
};

const isBehind = async (db: Reader, request: DetailedRow): Promise<boolean> =>
  (await loadVersion(db, request)).base_commit_sha !== request.checked_target_sha;

type Detailed = {
  project: Project;
  request: DetailedRow;
  /** Returns whether the caller may see its pipelines. */
  seesPipelines: () => Promise<boolean>;
};

/** Returns the reason why merging would be refused; null if nothing visible to the caller blocks it. */
const findBlockingReason = async (
  db: Reader,
  { project, request, seesPipelines }: Detailed,
): Promise<string | null> => {
  const mustResolve = project.only_allow_merge_if_all_discussions_are_resolved === 1;
  if (mustResolve && request.unresolved !== null) return 'discussions_not_resolved';
  if (request.changes_requested !== null) return 'requested_changes';
  if (project.merge_method !== 'merge' && (await isBehind(db, request))) return 'need_rebase';
  if (project.only_allow_merge_if_pipeline_succeeds !== 1 || !(await seesPipelines())) return null;
  return await checkPipeline(db, request);
};

const mergeable = Buffer.from(',"detailed_merge_status":"mergeable"}');

/** Replaces `detailed_merge_status`, the last member of the JSON, if project settings block the merge. */
export const withDetail = async (db: Reader, text: JsonText, detailed: Detailed): Promise<JsonText> => {
  const { bytes } = text;
  const end = bytes.length - mergeable.length;
  if (!bytes.subarray(end).equals(mergeable)) return text;
  const reason = await findBlockingReason(db, detailed);
  if (reason === null) return text;
  // The same text always loses the same end.
  const before = new JsonText(Buffer.concat([bytes.subarray(0, end), Buffer.from('}')]), text.digest);
  return withMembers(before, { detailed_merge_status: reason });
};

/** Loads `detailed_merge_status` from the stored row, as users who may merge see it. Checks no branches. */
export const loadDetailedStatus = async (
  db: Reader,
  row: MergeRequestRow,
  { isUnresolved }: { isUnresolved: boolean },
): Promise<string> => {
  const isRefused = row.merge_status === 'cannot_be_merged';
  const { real_size } = isRefused ? await loadVersion(db, row) : { real_size: null };
  const status = detailedStatus({ ...row, real_size });
  const project = status === 'mergeable' ? await loadProject(db, row.project_id) : null;
  if (project === null) return status;
  const request = {
    ...row,
    unresolved: isUnresolved ? 1 : null,
    changes_requested: (await areChangesRequested(db, row.id)) ? 1 : null,
  };
  const seesPipelines = async (): Promise<boolean> => await Promise.resolve(true);
  return (await findBlockingReason(db, { project, request, seesPipelines })) ?? status;
};
