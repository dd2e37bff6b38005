/** Applies the quick actions in the description of a new issue or merge request. */
import { sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { parseDuration } from '../../platform/duration.ts';
import type { TargetType } from '../../platform/db/schema/column_types.ts';
import { selectAncestors } from '../../identity/namespaces/ancestors.ts';
import { findActiveMilestoneByTitle } from '../../projects/milestones/find_assignable.ts';
import type { Project } from '../../projects/projects/find.ts';
import { parseDate } from '../../platform/time.ts';
import {
  type QuickAction,
  extractQuickActions,
  labelsNamed,
  milestoneNamed,
  usersNamed,
} from './text/quick_actions.ts';
import { findMetadata } from './find_metadata.ts';
import { maxSpentSeconds } from './target.ts';
import { isTitle, maxTitleLength } from './text/title.ts';
import { type EditName, isOperation } from './text/quick_action_words.ts';
import { isWorkInProgress, markDraft, withoutWorkInProgress } from './text/draft_title.ts';

/** Values that quick actions may set on a new record. Each kind uses the fields it has. */
export type Acted = {
  title: string;
  description?: string | null;
  assignee_ids?: number[];
  /** Only for a merge request. */
  reviewer_ids?: number[];
  /** Users whose review is requested, including those who have reviewed before. */
  review_requested_ids?: number[];
  milestone_id?: number | null;
  labels?: string[];
  confidential?: boolean;
  discussion_locked?: boolean;
  due_date?: string | null;
  /** Seconds. */
  time_estimate?: number;
  /** Seconds. */
  time_spent?: number;
  /** True if the author explicitly subscribes to it. */
  subscribed?: boolean;
  /** True if the author wants a to-do item for it. */
  todo?: boolean;
};

type ActionContext = {
  call: Call;
  project: Project;
  /** Kind of the record; only merge requests can be drafts. */
  type: TargetType;
};
type Act = (record: Acted, argument: string, context: ActionContext) => Acted | Promise<Acted>;

/** Titles of the named labels that exist in the project or a group above it. */
const labelTitles = async ({ call, project }: ActionContext, argument: string): Promise<string[]> => {
  const named = labelsNamed(argument).slice(0, 100);
  if (named.length === 0) return [];
  const rows = await call.db
    .selectFrom('labels')
    .select(['id', 'title'])
    .where((is) =>
      is.or(named.map((one) => (typeof one === 'number' ? is('id', '=', one) : is('title', '=', one)))),
    )
    .where((is) =>
      is.or([is('project_id', '=', project.id), is('group_id', 'in', selectAncestors(project.namespace_id))]),
    )
    .execute();
  return [...new Set(rows.map(({ title }) => title))];
};

const userIds = async ({ call }: ActionContext, argument: string): Promise<number[]> => {
  const own = call.actor?.user.username ?? '';
  const names = usersNamed(argument)
    .slice(0, 100)
    .map((name) => (name === 'me' ? own : name).toLowerCase());
  if (names.length === 0) return [];
  const rows = await call.db
    .selectFrom('users')
    .select('id')
    .where(sql<string>`lower(username)`, 'in', names)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
};

const milestoneId = async (
  { call, project }: ActionContext,
  argument: string,
): Promise<number | undefined> => {
  const named = milestoneNamed(argument);
  if (typeof named === 'string') return await findActiveMilestoneByTitle(call.db, project, named);
  const row = await call.db
    .selectFrom('milestones')
    .select('id')
    .where('iid', '=', named)
    .where('project_id', '=', project.id)
    .where('state', '=', 'active')
    .executeTakeFirst();
  return row?.id;
};

const without = <T>(list: readonly T[] = [], gone: readonly T[]): T[] =>
  list.filter((one) => !gone.includes(one));

const estimated: Act = (record, argument) => {
  const seconds = parseDuration(argument) ?? 0;
  return seconds > 0 ? { ...record, time_estimate: seconds } : record;
};

const spent: Act = (record, argument) => {
  const total = (record.time_spent ?? 0) + (parseDuration(argument) ?? 0);
  return total >= 0 && total <= maxSpentSeconds ? { ...record, time_spent: total } : record;
};

const labeled: Act = async (record, argument, context) => ({
  ...record,
  labels: [...(record.labels ?? []), ...(await labelTitles(context, argument))],
});

const assigned: Act = async (record, argument, context) => ({
  ...record,
  assignee_ids: [...(record.assignee_ids ?? []), ...(await userIds(context, argument))],
});

const milestoned: Act = async (record, argument, context) => {
  const milestone_id = await milestoneId(context, argument);
  return milestone_id === undefined ? record : { ...record, milestone_id };
};

const metadataCopied: Act = async (record, argument, { call, project }) => {
  const metadata = await findMetadata(call, project, argument);
  if (metadata === null) return record;
  const { labels, milestone_id } = metadata;
  return {
    ...record,
    labels: [...new Set([...(record.labels ?? []), ...labels])],
    ...(milestone_id !== null && { milestone_id }),
  };
};

const unlabeled: Act = async (record, argument, context) => ({
  ...record,
  labels: argument === '' ? [] : without(record.labels, await labelTitles(context, argument)),
});

const unassigned: Act = async (record, argument, context) => ({
  ...record,
  assignee_ids: argument === '' ? [] : without(record.assignee_ids, await userIds(context, argument)),
});

/** Limit of reviewers in one text; more are ignored. */
const maxReviewers = 100;

const reviewRequested: Act = async (record, argument, context) => {
  if (context.type !== 'MergeRequest') return record;
  const ids = await userIds(context, argument);
  const { reviewer_ids = [], review_requested_ids = [] } = record;
  return {
    ...record,
    reviewer_ids: [...new Set([...reviewer_ids, ...ids])].slice(0, maxReviewers),
    review_requested_ids: [...new Set([...review_requested_ids, ...ids])].slice(0, maxReviewers),
  };
};

const reviewerRemoved: Act = async (record, argument, context) => {
  if (context.type !== 'MergeRequest') return record;
  const reviewer_ids = argument === '' ? [] : without(record.reviewer_ids, await userIds(context, argument));
  return { ...record, reviewer_ids };
};

const dueOn: Act = (record, argument) => {
  const due_date = parseDate(argument);
  return due_date === null ? record : { ...record, due_date };
};

const ready: Act = (record, _argument, { type }) => {
  const title = type === 'MergeRequest' ? withoutWorkInProgress(record.title) : '';
  return title === '' ? record : { ...record, title };
};

/** Adds a draft prefix to the title, unless it has one. */
const drafted =
  (prefix?: 'WIP: '): Act =>
  (record, _argument, { type }) =>
    type === 'MergeRequest'
      ? { ...record, title: [...markDraft(record.title, prefix)].slice(0, maxTitleLength).join('') }
      : record;

/** `/wip` toggles the draft state. */
const toggled: Act = (record, argument, context) =>
  (isWorkInProgress(record.title) ? ready : drafted('WIP: '))(record, argument, context);

const acts: { [N in EditName]: Act } = {
  assign: assigned,
  // The contract lets a record begin only as opened.
  close: (record) => record,
  reopen: (record) => record,
  copy_metadata: metadataCopied,
  confidential: (record) => ({ ...record, confidential: true }),
  done: (record) => ({ ...record, todo: false }),
  draft: drafted(),
  due: dueOn,
  estimate: estimated,
  label: labeled,
  lock: (record) => ({ ...record, discussion_locked: true }),
  milestone: milestoned,
  ready,
  reassign: async (record, argument, context) =>
    await assigned({ ...record, assignee_ids: [] }, argument, context),
  relabel: async (record, argument, context) => await labeled({ ...record, labels: [] }, argument, context),
  remove_due_date: (record) => ({ ...record, due_date: null }),
  remove_estimate: (record) => ({ ...record, time_estimate: 0 }),
  remove_milestone: (record) => ({ ...record, milestone_id: null }),
  request_review: reviewRequested,
  remove_time_spent: (record) => ({ ...record, time_spent: 0 }),
  spend: spent,
  subscribe: (record) => ({ ...record, subscribed: true }),
  title: (record, argument) => (isTitle(argument) ? { ...record, title: argument } : record),
  todo: (record) => ({ ...record, todo: true }),
  unassign: unassigned,
  unassign_reviewer: reviewerRemoved,
  unlabel: unlabeled,
  unlock: (record) => ({ ...record, discussion_locked: false }),
  unsubscribe: (record) => ({ ...record, subscribed: false }),
  wip: toggled,
};

/** Limit of quick actions in one text; more are ignored. */
export const maxActions = 100;

/** Applies quick actions in order to the current values. Skips those that are operations of their own. */
export const applyActions = async (
  context: ActionContext,
  record: Acted,
  actions: QuickAction[],
): Promise<Acted> => {
  let acted = record;
  for (const { name, argument } of actions.slice(0, maxActions)) {
    if (!isOperation(name)) acted = await acts[name](acted, argument, context);
  }
  return acted;
};

/** Removes the quick actions from the description and applies them in order. */
export const withQuickActions = async <T extends Acted>(
  context: ActionContext,
  record: T,
): Promise<T & Acted> => {
  const { text, actions } = extractQuickActions(record.description ?? '');
  if (actions.length === 0) return record;
  return { ...record, ...(await applyActions(context, { ...record, description: text }, actions)) };
};
