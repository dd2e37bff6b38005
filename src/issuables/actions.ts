/** What quick actions in the description of a new issue or merge request do to it. */
import { sql } from 'kysely';
import type { Call } from '../access/call.ts';
import { parseDuration } from '../duration.ts';
import type { TargetType } from '../db/schema.ts';
import { ancestorsOf } from '../namespaces/ancestors.ts';
import type { Project } from '../projects/find.ts';
import { parseDate } from '../time.ts';
import {
  type QuickAction,
  extractQuickActions,
  labelsNamed,
  milestoneNamed,
  usersNamed,
} from './quick_actions.ts';
import { longestSpent } from './target.ts';
import { isTitle, longestTitle } from './title.ts';
import { isWorkInProgress, withoutWorkInProgress } from './title_state.ts';

/** What quick actions may say of a new record; each kind takes what it has. */
export type Acted = {
  title: string;
  description?: string | null;
  assignee_ids?: number[];
  /** Of a merge request. */
  reviewer_ids?: number[];
  /** Users who are asked for a review, also those who have been before. */
  review_requested_ids?: number[];
  milestone_id?: number | null;
  labels?: string[];
  confidential?: boolean;
  due_date?: string | null;
  /** Seconds. */
  time_estimate?: number;
  /** Seconds. */
  time_spent?: number;
  /** Whether the author follows it, by his word. */
  subscribed?: boolean;
  /** Whether the author wants a todo on it. */
  todo?: boolean;
};

type Place = {
  call: Call;
  project: Project;
  /** What is acted on: only a merge request is a draft. */
  type: TargetType;
};
type Act = (given: Acted, argument: string, place: Place) => Acted | Promise<Acted>;

/** Titles of those of the named labels that the project or a group above it has. */
const labelTitles = async ({ call, project }: Place, argument: string): Promise<string[]> => {
  const named = labelsNamed(argument).slice(0, 100);
  if (named.length === 0) return [];
  const rows = await call.db
    .selectFrom('labels')
    .select(['id', 'title'])
    .where((is) =>
      is.or(named.map((one) => (typeof one === 'number' ? is('id', '=', one) : is('title', '=', one)))),
    )
    .where((is) =>
      is.or([is('project_id', '=', project.id), is('group_id', 'in', ancestorsOf(project.namespace_id))]),
    )
    .execute();
  return [...new Set(rows.map(({ title }) => title))];
};

const userIds = async ({ call }: Place, argument: string): Promise<number[]> => {
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

const milestoneId = async ({ call, project }: Place, argument: string): Promise<number | undefined> => {
  const named = milestoneNamed(argument);
  const row = await call.db
    .selectFrom('milestones')
    .select('id')
    .where((is) =>
      typeof named === 'number'
        ? is.and([is('iid', '=', named), is('project_id', '=', project.id)])
        : is.and([
            is('title', '=', named),
            is.or([
              is('project_id', '=', project.id),
              is('group_id', 'in', ancestorsOf(project.namespace_id)),
            ]),
          ]),
    )
    .where('state', '=', 'active')
    .orderBy('id')
    .executeTakeFirst();
  return row?.id;
};

const without = <T>(list: readonly T[] = [], gone: readonly T[]): T[] =>
  list.filter((one) => !gone.includes(one));

const estimated: Act = (given, argument) => {
  const seconds = parseDuration(argument) ?? 0;
  return seconds > 0 ? { ...given, time_estimate: seconds } : given;
};

const spent: Act = (given, argument) => {
  const total = (given.time_spent ?? 0) + (parseDuration(argument) ?? 0);
  return total >= 0 && total <= longestSpent ? { ...given, time_spent: total } : given;
};

const labeled: Act = async (given, argument, place) => ({
  ...given,
  labels: [...(given.labels ?? []), ...(await labelTitles(place, argument))],
});

const assigned: Act = async (given, argument, place) => ({
  ...given,
  assignee_ids: [...(given.assignee_ids ?? []), ...(await userIds(place, argument))],
});

const milestoned: Act = async (given, argument, place) => {
  const milestone_id = await milestoneId(place, argument);
  return milestone_id === undefined ? given : { ...given, milestone_id };
};

const unlabeled: Act = async (given, argument, place) => ({
  ...given,
  labels: argument === '' ? [] : without(given.labels, await labelTitles(place, argument)),
});

const unassigned: Act = async (given, argument, place) => ({
  ...given,
  assignee_ids: argument === '' ? [] : without(given.assignee_ids, await userIds(place, argument)),
});

/** More reviewers of one text are passed over. */
const mostReviewers = 100;

const reviewRequested: Act = async (given, argument, place) => {
  if (place.type !== 'MergeRequest') return given;
  const ids = await userIds(place, argument);
  const { reviewer_ids = [], review_requested_ids = [] } = given;
  return {
    ...given,
    reviewer_ids: [...new Set([...reviewer_ids, ...ids])].slice(0, mostReviewers),
    review_requested_ids: [...new Set([...review_requested_ids, ...ids])].slice(0, mostReviewers),
  };
};

const reviewerRemoved: Act = async (given, argument, place) => {
  if (place.type !== 'MergeRequest') return given;
  const reviewer_ids = argument === '' ? [] : without(given.reviewer_ids, await userIds(place, argument));
  return { ...given, reviewer_ids };
};

const dueOn: Act = (given, argument) => {
  const due_date = parseDate(argument);
  return due_date === null ? given : { ...given, due_date };
};

const ready: Act = (given, _argument, { type }) => {
  const title = type === 'MergeRequest' ? withoutWorkInProgress(given.title) : '';
  return title === '' ? given : { ...given, title };
};

/** One that is a draft already keeps its title. */
const drafted =
  (prefix: string): Act =>
  (given, _argument, { type }) =>
    type !== 'MergeRequest' || isWorkInProgress(given.title)
      ? given
      : { ...given, title: [...`${prefix}${given.title}`].slice(0, longestTitle).join('') };

/** The old word turns it on and off. */
const toggled: Act = (given, argument, place) =>
  (isWorkInProgress(given.title) ? ready : drafted('WIP: '))(given, argument, place);

const acts: { [N in QuickAction['name']]: Act } = {
  assign: assigned,
  // The contract lets a record begin only as opened.
  close: (given) => given,
  reopen: (given) => given,
  confidential: (given) => ({ ...given, confidential: true }),
  done: (given) => ({ ...given, todo: false }),
  draft: drafted('Draft: '),
  due: dueOn,
  estimate: estimated,
  label: labeled,
  milestone: milestoned,
  ready,
  reassign: async (given, argument, place) => await assigned({ ...given, assignee_ids: [] }, argument, place),
  relabel: async (given, argument, place) => await labeled({ ...given, labels: [] }, argument, place),
  remove_due_date: (given) => ({ ...given, due_date: null }),
  remove_estimate: (given) => ({ ...given, time_estimate: 0 }),
  remove_milestone: (given) => ({ ...given, milestone_id: null }),
  request_review: reviewRequested,
  remove_time_spent: (given) => ({ ...given, time_spent: 0 }),
  spend: spent,
  subscribe: (given) => ({ ...given, subscribed: true }),
  title: (given, argument) => (isTitle(argument) ? { ...given, title: argument } : given),
  todo: (given) => ({ ...given, todo: true }),
  unassign: unassigned,
  unassign_reviewer: reviewerRemoved,
  unlabel: unlabeled,
  unsubscribe: (given) => ({ ...given, subscribed: false }),
  wip: toggled,
};

/** More than these of one text are passed over. */
const mostActions = 100;

/** Applies quick actions in their order to what is there. */
export const applyActions = async (place: Place, given: Acted, actions: QuickAction[]): Promise<Acted> => {
  let acted = given;
  for (const { name, argument } of actions.slice(0, mostActions)) {
    // oxlint-disable-next-line no-await-in-loop -- each goes on from what the one before made
    acted = await acts[name](acted, argument, place);
  }
  return acted;
};

/** Takes the quick actions out of the description and applies them in their order. */
export const withQuickActions = async <T extends Acted>(place: Place, given: T): Promise<T & Acted> => {
  const { text, actions } = extractQuickActions(given.description ?? '');
  if (actions.length === 0) return given;
  return { ...given, ...(await applyActions(place, { ...given, description: text }, actions)) };
};
