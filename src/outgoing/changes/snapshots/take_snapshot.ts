/** Takes the snapshot of a change at the end of its transaction. */
import { sql } from 'kysely';
import type { RecordedChange } from '../../../core/events/record_event.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { matchesWildcard } from '../../../platform/wildcard.ts';
import type { Plan } from '../hook_plans.ts';
import { loadDeploymentRecords, loadJobRecords, loadPipelineRecords, loadReleaseRecords } from './load_ci.ts';
import { loadProjectFacts, loadRemovedLabels, loadUserFacts } from './load_common.ts';
import { loadMemberRecords, loadSystemRecords } from './load_people.ts';
import {
  loadAwardRecords,
  loadCommentRecords,
  loadIssueFacts,
  loadMergeRequestFacts,
  loadNoteRecords,
} from './load_planning.ts';
import type { Records, Snapshot } from './snapshot.ts';

type Facts = { data: object; transient: object };

const loadRecords = async (
  tx: Tx,
  { kind, target_id: id, actor_id }: RecordedChange,
  { payload }: Plan,
  facts: Facts,
): Promise<Records> => {
  switch (payload) {
    case 'issue': {
      const issue = await loadIssueFacts(tx, id);
      return issue === undefined ? {} : { issue };
    }
    case 'merge_request': {
      const merge_request = await loadMergeRequestFacts(tx, id);
      return merge_request === undefined ? {} : { merge_request };
    }
    case 'note':
      return await (kind.startsWith('note.') ? loadNoteRecords : loadCommentRecords)(tx, id);
    case 'emoji':
      return await loadAwardRecords(tx, { data: facts.data, actor_id });
    case 'pipeline':
      return await loadPipelineRecords(tx, id);
    case 'job':
      return await loadJobRecords(tx, id);
    case 'release':
      return await loadReleaseRecords(tx, id, facts.transient);
    case 'deployment':
      return await loadDeploymentRecords(tx, id);
    case 'member':
      return await loadMemberRecords(tx, id, facts.data as { user_id: number });
    case 'system':
      return await loadSystemRecords(tx, [kind.split('.')[0] ?? '', id], facts);
    default:
      return {};
  }
};

const listPeople = (records: Records): (number | null | undefined)[] => {
  const { issue, merge_request, note, commit_comment, award, release, deployment, pipeline, member } =
    records;
  return [
    ...[issue, merge_request].flatMap((one) =>
      one === undefined ? [] : [one.author_id, one.closed_by_id, ...one.assignee_ids],
    ),
    ...(merge_request?.reviewers.map(({ user_id }) => user_id) ?? []),
    merge_request?.merged_by_id,
    merge_request?.merge_user_id,
    note?.author_id,
    commit_comment?.author_id,
    award?.user_id,
    release?.author_id,
    deployment?.user_id,
    pipeline?.user_id,
    member?.user_id,
    records.job?.user_id,
    ...(records.jobs?.map(({ user_id }) => user_id) ?? []),
    ...(records.owners ?? []),
  ];
};

/** Users who were assigned or asked for a review before the change. */
const listFormerPeople = (data: object): number[] => {
  const { assignee_ids, reviewer_ids } = data as { assignee_ids?: number[][]; reviewer_ids?: number[][] };
  return [...(assignee_ids?.[0] ?? []), ...(reviewer_ids?.[0] ?? [])];
};

/** Only these fields, because other data of observers contains secrets. */
const pickUnlogged = (transient: object): Snapshot['unlogged'] => {
  const { description, updated_at, push_options, branch_base } = transient as Snapshot['unlogged'];
  return {
    ...(description !== undefined && { description }),
    ...(updated_at !== undefined && { updated_at }),
    ...(push_options !== undefined && push_options.length > 0 && { push_options }),
    ...(branch_base !== undefined && { branch_base }),
  };
};

/** Returns whether a branch or tag is protected at the time of the change. */
const isProtected = async ({ db }: Tx, projectId: number, ref: string): Promise<boolean> => {
  const isBranch = ref.startsWith('refs/heads/');
  const name = ref.replace(/^refs\/(?:heads|tags)\//, '');
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(
    isBranch ? 'protected_branches' : 'protected_tags',
  )} where project_id = ${projectId}`.execute(db);
  return rows.some((rule) => matchesWildcard(rule.name, name));
};

export const takeSnapshot = async (tx: Tx, change: RecordedChange, plan: Plan): Promise<Snapshot> => {
  const { kind, actor_id, data = {}, transient = {} } = change;
  const records = await loadRecords(tx, change, plan, { data, transient });
  const { ref } = data as { ref?: string };
  const removed_labels = await loadRemovedLabels(tx, change.project_id, data);
  const hasRef = plan.payload === 'push' || plan.payload === 'tag_push';
  return {
    payload: plan.payload,
    kind,
    data,
    unlogged: pickUnlogged(transient),
    actor_id,
    at: tx.now,
    project: await loadProjectFacts(tx, change.project_id),
    ...(hasRef &&
      change.project_id !== null &&
      ref !== undefined && { is_ref_protected: await isProtected(tx, change.project_id, ref) }),
    ...(removed_labels.length > 0 && { removed_labels }),
    users: await loadUserFacts(tx, [actor_id, ...listPeople(records), ...listFormerPeople(data)]),
    records,
  };
};
