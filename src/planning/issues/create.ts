import { type Actor, type Call, requireActor } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import type { Viewer } from '../../core/access/viewer.ts';
import { canSeeIssue } from '../../core/access/visible.ts';
import { insertRows } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { type Acted, withQuickActions } from '../issuables/apply_quick_actions.ts';
import { keepAssignable } from '../issuables/keep_assignable.ts';
import { sortTitles } from '../issuables/lists/rows.ts';
import { withoutAdminFields } from '../issuables/shared_edits.ts';
import { type CreateInput, keepPermitted, newColumns } from '../issuables/fields.ts';
import { setAssignees, setLabels } from '../issuables/label_assignee_links.ts';
import { recordFirstValues } from '../issuables/record_resource_events.ts';
import { storeSearchText } from '../issuables/search/search.ts';
import { checkTitle } from '../issuables/text/title.ts';
import { keptUsersById } from '../../identity/users/json.ts';
import { findOrCreateLabels } from '../../projects/labels/find_by_title.ts';
import { findAssignableMilestone } from '../../projects/milestones/find_assignable.ts';
import type { MilestoneRow } from '../../projects/milestones/json.ts';
import { addCrossReferences } from '../notes/cross_references.ts';
import type { Project } from '../../projects/projects/find.ts';
import { iidTurn, takeIid } from '../../projects/projects/take_iid.ts';
import { setSubscribed } from '../subscriptions/subscriptions.ts';
import { logTime } from '../time_tracking/log_time.ts';
import { addTodosForNewRecord } from '../todos/notify_assignees.ts';
import { issueFields } from './fields.ts';
import { type LoadedIssue, reloadIssue, toLoadedIssue } from './find.ts';
import type { IssueRow } from './rows.ts';

/** Input for a new issue. */
export type NewIssue = CreateInput<typeof issueFields> & {
  title: string;
  assignee_ids?: number[];
  milestone_id?: number | null;
  labels?: string[];
  /** Labels by id: of boards, not of the API. */
  add_label_ids?: number[];
  created_at?: number;
};

type ActedIssue = NewIssue & Acted;

/** Drops fields that the caller may not set. */
const keepAllowed = (call: Call, project: Project, input: ActedIssue): ActedIssue => {
  const permitted = keepPermitted(issueFields, { viewer: call.viewer, project }, input);
  const own = may(call.viewer, 'admin_issue', project) ? permitted : withoutAdminFields(permitted);
  if (may(call.viewer, 'set_issue_times', project)) return own;
  const { created_at: _created, ...rest } = own;
  return rest;
};

type Visibility = { author_id: number; confidential: number };

/** Makes the check whether a user may be assigned to an issue: they see it, or would see it as an assignee. */
export const issueVisibility =
  (project: Project, issue: Visibility) =>
  (viewer: Viewer, assignee_ids: number[]): boolean =>
    canSeeIssue(viewer, project, { id: 0, deleted_at: null, ...issue, assignee_ids });

type Inserted = { row: IssueRow; milestone: MilestoneRow | null };

const insertIssue = async (tx: Tx, project: Project, actor: Actor, input: ActedIssue): Promise<Inserted> => {
  const { milestone_id: milestoneId = null } = input;
  const milestone = milestoneId === null ? null : await findAssignableMilestone(tx.db, project, milestoneId);
  const iid = await takeIid(tx, project.id, 'issue');
  const created_at = input.created_at ?? tx.now;
  const columns = {
    ...newColumns<IssueRow, typeof issueFields>(issueFields, input),
    project_id: project.id,
    iid,
    title: input.title,
    state: 'opened' as const,
    author_id: actor.user.id,
    milestone_id: milestone?.id ?? null,
    time_estimate: input.time_estimate ?? 0,
    total_time_spent: input.time_spent ?? 0,
    moved_to_id: null,
    closed_at: null,
    closed_by_id: null,
    created_at,
    updated_at: tx.now,
    deleted_at: null,
  };
  const [row] = await insertRows<'issues', IssueRow>(tx.db, 'issues', [columns], 'returning *');
  if (row === undefined) throw new Error('an issue was not stored');
  return { row, milestone };
};

const storeUserAgent = async (tx: Tx, id: number, { userAgent, ip }: Call): Promise<void> => {
  if (userAgent === '') return;
  const row = {
    target_type: 'Issue' as const,
    target_id: id,
    user_agent: userAgent.slice(0, 1000),
    ip_address: ip,
  };
  await insertRows(tx.db, 'user_agent_details', [row]);
};

/** What was linked with a new issue. `titles`: of its labels; null if only their ids are known. */
type Links = { titles: string[] | null; assignee_ids: number[] };

const storeLinks = async (
  tx: Tx,
  actor: Actor,
  project: Project,
  { row, fields }: { row: IssueRow; fields: ActedIssue },
): Promise<Links> => {
  const { labels = [], add_label_ids = [], assignee_ids = [] } = fields;
  const labelRows = labels.length === 0 ? [] : await findOrCreateLabels(tx, actor, project, labels);
  const linked = { type: 'Issue' as const, id: row.id, created_at: row.created_at };
  const labelIds = [...new Set([...labelRows.map(({ id }) => id), ...add_label_ids])];
  await setLabels(tx, linked, [], labelIds);
  await recordFirstValues(tx, { target: linked, user_id: actor.user.id }, { ...row, labelIds });
  const assigned = await keepAssignable(tx, project, assignee_ids, issueVisibility(project, row));
  await setAssignees(tx, linked, [], assigned);
  const titles = add_label_ids.length === 0 ? labelRows.map(({ title }) => title) : null;
  return { titles, assignee_ids: assigned };
};

/** Builds the new issue from what its creation has stored and found, which saves reading all of it again. */
const loadCreated = async (
  tx: Tx,
  { user }: Actor,
  project: Project,
  { row, milestone, titles, assignee_ids }: Inserted & Links,
): Promise<LoadedIssue> => {
  if (titles === null) return await reloadIssue(tx.db, project, row.id);
  const users = await keptUsersById(tx.db, assignee_ids);
  return toLoadedIssue(project, {
    ...row,
    project_path: project.full_path,
    author: user,
    assignees: assignee_ids.flatMap((id) => users.get(id) ?? []),
    milestone,
    labels: sortTitles(titles),
    closed_by: null,
    merge_requests_count: 0,
  });
};

/** Stores the time spent and the subscription that quick actions ask for. */
const storeQuickActions = async (
  tx: Tx,
  actor: Actor,
  { target }: LoadedIssue,
  input: ActedIssue,
): Promise<void> => {
  const { time_spent = 0, subscribed } = input;
  if (time_spent > 0) await logTime(tx, target, actor.user.id, { seconds: time_spent });
  if (subscribed !== undefined) await setSubscribed(tx, actor.user.id, target, subscribed);
};

type Continued = { follow?: (tx: Tx, loaded: LoadedIssue) => Promise<void>; keepsActions?: boolean };

/** A new issue, and whether its author follows it. */
export type CreatedIssue = LoadedIssue & { isSubscribed: boolean };

/**
 * Creates an issue and all its side effects in one transaction. Quick actions in its description are executed if the
 * caller is permitted.
 * @param follow runs in the same transaction, after the issue is stored
 * @param keepsActions leaves quick actions in the description as text: somebody else wrote it
 * @throws Failure 400 for a title that is blank or too long
 */
export const createIssue = async (
  call: Call,
  project: Project,
  input: NewIssue,
  { follow, keepsActions = false }: Continued = {},
): Promise<CreatedIssue> => {
  const titled = { ...input, title: checkTitle(input.title) };
  const acted = keepsActions ? titled : await withQuickActions({ call, project, type: 'Issue' }, titled);
  const fields = keepAllowed(call, project, acted);
  const actor = requireActor(call);
  return await call.write(
    async (tx) => {
      const inserted = await insertIssue(tx, project, actor, fields);
      const { row } = inserted;
      await storeSearchText(tx, 'Issue', row, true);
      const links = await storeLinks(tx, actor, project, { row, fields });
      await storeUserAgent(tx, row.id, call);
      await recordEvent(tx, actor, {
        kind: 'issue.created',
        project_id: project.id,
        target_type: 'Issue',
        target_id: row.id,
        data: { iid: row.iid, title: row.title },
      });
      const loaded = await loadCreated(tx, actor, project, { ...inserted, ...links });
      await storeQuickActions(tx, actor, loaded, fields);
      await addTodosForNewRecord(tx, actor.user.id, loaded, { ...row, todo: fields.todo });
      await addCrossReferences(tx, call, loaded, { before: null, after: row });
      await follow?.(tx, loaded);
      return { ...loaded, isSubscribed: fields.subscribed ?? true };
    },
    iidTurn(project.id, 'issue'),
  );
};
