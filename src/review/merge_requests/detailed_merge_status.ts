/** Computes `detailed_merge_status` from the project settings, without the row of the request. */
import type { Reader } from '../../platform/db/open.ts';
import type { JobStatus } from '../../platform/db/schema/ci.ts';
import { JsonText } from '../../platform/http/endpoint.ts';
import { withMembers } from '../../planning/issuables/lists/json_cache.ts';
import type { Project } from '../../projects/projects/find.ts';
import { isGreen } from './merging/head_pipeline.ts';
import type { CheckedRequest } from './merging/merge_status.ts';
import { loadFinalStatus } from './merging/pending_pushes.ts';

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

/** Loads the merge base of the latest version. */
const loadBase = async (db: Reader, { diff_id }: DetailedRow): Promise<string | null> => {
  if (diff_id === null) return null;
  const versions = db.selectFrom('merge_request_diffs').where('id', '=', diff_id);
  return (await versions.select('base_commit_sha').executeTakeFirst())?.base_commit_sha ?? null;
};

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
  if (project.merge_method !== 'merge' && (await loadBase(db, request)) !== request.checked_target_sha)
    return 'need_rebase';
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
