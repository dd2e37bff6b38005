import { type Actor, type Call, actorOf } from '../access/call.ts';
import { may } from '../access/may.ts';
import type { Viewer } from '../access/viewer.ts';
import { canSeeIssue } from '../access/visible.ts';
import { insertRow, insertRows } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';
import { recordEvent } from '../events/record.ts';
import { type Acted, withQuickActions } from '../issuables/actions.ts';
import { assignable } from '../issuables/assignable.ts';
import { setAssignees, setLabels } from '../issuables/links.ts';
import { storeSearchText } from '../issuables/search.ts';
import { checkTitle } from '../issuables/title.ts';
import { findOrCreateLabels } from '../labels/by_title.ts';
import { assignableMilestone } from '../milestones/find.ts';
import { noteMentionsOf } from '../notes/cross_references.ts';
import type { Project } from '../projects/find.ts';
import { takeIid } from '../projects/take_iid.ts';
import { setSubscribed } from '../subscriptions/subscribed.ts';
import { logTime } from '../time_tracking/log.ts';
import { tellOfNew } from '../todos/tell.ts';
import { type FoundIssue, reloadIssue } from './find.ts';

/** What a caller gives of a new issue. */
export type NewIssue = {
  title: string;
  description?: string | null;
  confidential?: boolean;
  assignee_ids?: number[];
  milestone_id?: number | null;
  labels?: string[];
  created_at?: number;
  due_date?: string | null;
};

type ActedIssue = NewIssue & Acted;

/** Only those who may administer issues set these; from others they are dropped without a word. */
const withoutAdminFields = (given: ActedIssue): ActedIssue => {
  const { assignee_ids: _a, milestone_id: _m, labels: _l, due_date: _d, ...rest } = given;
  return rest;
};

const allowed = (call: Call, project: Project, given: ActedIssue): ActedIssue => {
  const own = may(call.viewer, 'admin_issue', project) ? given : withoutAdminFields(given);
  if (may(call.viewer, 'set_issue_times', project)) return own;
  const { created_at: _created, ...rest } = own;
  return rest;
};

type Visibility = { author_id: number; confidential: number };

/** Who may be assigned to an issue: who sees it, or would as its assignee. */
export const seesIssue =
  (project: Project, issue: Visibility) =>
  (viewer: Viewer, assignee_ids: number[]): boolean =>
    canSeeIssue(viewer, project, { id: 0, deleted_at: null, ...issue, assignee_ids });

const insertIssue = async (tx: Tx, project: Project, actor: Actor, given: ActedIssue) => {
  const confidential = given.confidential === true ? (1 as const) : (0 as const);
  const { milestone_id: wanted = null } = given;
  const milestone = wanted === null ? null : await assignableMilestone(tx.db, project, wanted);
  const iid = await takeIid(tx, project.id, 'issue');
  const created_at = given.created_at ?? tx.now;
  const row = {
    project_id: project.id,
    iid,
    title: given.title,
    description: given.description ?? null,
    state: 'opened' as const,
    author_id: actor.user.id,
    milestone_id: milestone?.id ?? null,
    confidential,
    due_date: given.due_date ?? null,
    time_estimate: given.time_estimate ?? 0,
    total_time_spent: given.time_spent ?? 0,
    moved_to_id: null,
    closed_at: null,
    closed_by_id: null,
    created_at,
    updated_at: tx.now,
    deleted_at: null,
  };
  return { id: await insertRow(tx.db, 'issues', row), ...row };
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

type Row = Awaited<ReturnType<typeof insertIssue>>;

const storeLinks = async (
  tx: Tx,
  actor: Actor,
  project: Project,
  row: Row & { given: ActedIssue },
): Promise<void> => {
  const { labels = [], assignee_ids = [] } = row.given;
  const found = labels.length === 0 ? [] : await findOrCreateLabels(tx, actor, project, labels);
  const linked = { type: 'Issue' as const, id: row.id, created_at: row.created_at };
  await setLabels(
    tx,
    linked,
    [],
    found.map(({ id }) => id),
  );
  await setAssignees(tx, linked, [], await assignable(tx, project, assignee_ids, seesIssue(project, row)));
};

/** What only quick actions bring along. */
const storeWords = async (tx: Tx, actor: Actor, { target }: FoundIssue, given: ActedIssue): Promise<void> => {
  const { time_spent = 0, subscribed } = given;
  if (time_spent > 0) await logTime(tx, target, actor.user.id, time_spent);
  if (subscribed !== undefined) await setSubscribed(tx, actor.user.id, target, subscribed);
};

/**
 * Creates an issue, with all its side effects in one transaction. Quick actions in its description are carried
 * out, within what the caller may.
 * @param follow what else happens with it, in the same transaction
 * @throws Failure 400 for a title that is blank or too long
 */
export const createIssue = async (
  call: Call,
  project: Project,
  input: NewIssue,
  follow?: (tx: Tx, found: FoundIssue) => Promise<void>,
): Promise<FoundIssue> => {
  const title = checkTitle(input.title);
  const given = allowed(
    call,
    project,
    await withQuickActions({ call, project, type: 'Issue' }, { ...input, title }),
  );
  const actor = actorOf(call);
  return await call.write(async (tx) => {
    const row = await insertIssue(tx, project, actor, given);
    await storeSearchText(tx, 'Issue', row, true);
    await storeLinks(tx, actor, project, { ...row, given });
    await storeUserAgent(tx, row.id, call);
    await recordEvent(tx, actor, {
      kind: 'issue.created',
      project_id: project.id,
      target_type: 'Issue',
      target_id: row.id,
      data: { iid: row.iid, title: row.title },
    });
    const found = await reloadIssue(tx.db, project, row.id);
    await storeWords(tx, actor, found, given);
    await tellOfNew(tx, actor.user.id, found, { ...row, todo: given.todo });
    await noteMentionsOf(tx, call, found, { before: null, after: row });
    await follow?.(tx, found);
    return found;
  });
};
