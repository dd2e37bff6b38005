/** Why a request cannot be merged, where not its own row tells but what its project asks for. */
import type { Reader } from '../db/open.ts';
import type { JobStatus } from '../db/schema_ci.ts';
import { JsonText } from '../http/endpoint.ts';
import { withMembers } from '../issuables/texts.ts';
import type { Project } from '../projects/find.ts';
import { isGreen } from './head_pipeline.ts';
import type { Checked } from './merge_status.ts';
import { certainStatus } from './unfollowed.ts';

type Asked = Checked & {
  /** 1: a discussion waits to be resolved. */
  unresolved: number | null;
  diff_id: number | null;
};

const goingOn: readonly JobStatus[] = ['created', 'waiting_for_resource', 'scheduled', 'pending', 'running'];

const ofStatus = (status: JobStatus | null): string | null => {
  if (status === null || isGreen(status)) return null;
  return goingOn.includes(status) ? 'ci_still_running' : 'ci_must_pass';
};

const ofPipeline = async (db: Reader, request: Asked): Promise<string | null> => {
  const status = await certainStatus(db, request);
  return status === 'coming' ? 'ci_still_running' : ofStatus(status);
};

/** Where its newest version left the target. */
const baseOf = async (db: Reader, { diff_id }: Asked): Promise<string | null> => {
  if (diff_id === null) return null;
  const versions = db.selectFrom('merge_request_diffs').where('id', '=', diff_id);
  return (await versions.select('base_commit_sha').executeTakeFirst())?.base_commit_sha ?? null;
};

type Detailed = {
  project: Project;
  request: Asked;
  /** Whether how its pipelines stand is for the caller to know. */
  seesPipelines: () => Promise<boolean>;
};

/** As `requireReady` and merging refuse it; null: nothing stands against it that the caller may know. */
const standsAgainst = async (
  db: Reader,
  { project, request, seesPipelines }: Detailed,
): Promise<string | null> => {
  const mustResolve = project.only_allow_merge_if_all_discussions_are_resolved === 1;
  if (mustResolve && request.unresolved !== null) return 'discussions_not_resolved';
  if (project.merge_method !== 'merge' && (await baseOf(db, request)) !== request.checked_target_sha)
    return 'need_rebase';
  if (project.only_allow_merge_if_pipeline_succeeds !== 1 || !(await seesPipelines())) return null;
  return await ofPipeline(db, request);
};

const mergeable = Buffer.from(',"detailed_merge_status":"mergeable"}');

/** The text of one request, whose last member is what its own row tells. */
export const withDetail = async (db: Reader, text: JsonText, detailed: Detailed): Promise<JsonText> => {
  const { bytes } = text;
  const end = bytes.length - mergeable.length;
  if (!bytes.subarray(end).equals(mergeable)) return text;
  const reason = await standsAgainst(db, detailed);
  if (reason === null) return text;
  const before = new JsonText(Buffer.concat([bytes.subarray(0, end), Buffer.from('}')]));
  return withMembers(before, { detailed_merge_status: reason });
};
