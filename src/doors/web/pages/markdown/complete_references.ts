/** Finds completions of a partially typed reference, emoji or quick action that the viewer can see. */
import { type ProjectAction, may } from '../../../../core/access/may.ts';
import { listParticipants } from '../../../../planning/issuables/participants.ts';
import { type ActionSet, actionsIn } from '../../../../planning/issuables/text/quick_action_words.ts';
import { findIssue } from '../../../../planning/issues/find.ts';
import { Failure } from '../../../../platform/errors.ts';
import { pageRequest } from '../../../../platform/http/page.ts';
import { projectOwner } from '../../../../projects/project_or_group/owner.ts';
import { listLabels } from '../../../../projects/labels/queries.ts';
import { listMembers } from '../../../../projects/members/queries.ts';
import { listMilestones } from '../../../../projects/milestones/queries.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { findMergeRequest } from '../../../../review/merge_requests/find.ts';
import { findEmoji } from '../../../markdown/convert/emoji.ts';
import type { Visit } from '../../page.ts';
import { selectIssues, selectMergeRequests, selectNamedUsers } from '../jump/find_records.ts';

/** A completion. @property insert the text that replaces what was typed @property color of a label */
export type Completion = { insert: string; text: string; hint?: string; color?: string };

/** @property target issue or merge request whose participants come first */
export type CompletionQuery = {
  search: string;
  project: Project | null;
  target: { noun: 'issues' | 'merge_requests'; iid: number } | null;
  /** Quick actions that the text may have; null: none. */
  actions: ActionSet | null;
};

const maxCompletions = 8;
/** Participants among which a name is searched. */
const maxParticipants = 100;

const firstPage = pageRequest({ per_page: maxCompletions });

/** Returns the project if the viewer may do this in it. */
const permitted = ({ call }: Visit, project: Project | null, action: ProjectAction): Project | null =>
  project !== null && may(call.viewer, action, project) ? project : null;

type Person = { name: string; username: string; state: string };

/** Loads the participants of a record; none of one that the viewer does not see. */
const loadParticipants = async ({ call }: Visit, { project, target }: CompletionQuery): Promise<Person[]> => {
  if (project === null || target === null) return [];
  const find = target.noun === 'issues' ? findIssue : findMergeRequest;
  try {
    const loaded = await find(call, project.full_path, target.iid);
    const { items } = await listParticipants(call, loaded, pageRequest({ per_page: maxParticipants }));
    return items;
  } catch (error) {
    if (error instanceof Failure && error.kind === 'not_found') return [];
    throw error;
  }
};

const loadMembers = async ({ call }: Visit, project: Project | null, query: string): Promise<Person[]> => {
  if (project === null) return [];
  const { id, namespace_id } = project;
  const source = { type: 'Project' as const, id, namespace_id, level: 0, mayRead: true, mayAdmin: false };
  return (await listMembers(call.db, source, { query, inherited: true, now: call.now }, firstPage)).rows;
};

/** Completes to participants, then members; without a project, to all users. */
const completeUser = async (visit: Visit, query: CompletionQuery): Promise<Completion[]> => {
  const { search, project } = query;
  const words = search.toLowerCase();
  const isNamed = ({ name, username }: Person): boolean =>
    username.toLowerCase().includes(words) || name.toLowerCase().includes(words);
  const [participants, members] = await Promise.all([
    loadParticipants(visit, query),
    loadMembers(visit, permitted(visit, project, 'read_member'), search),
  ]);
  const known = [...participants.filter(isNamed), ...members].filter(({ state }) => state === 'active');
  const people = project === null ? await selectNamedUsers(visit, search, maxCompletions) : known;
  const names = new Map(people.map(({ username, name }) => [username, name]));
  return [...names]
    .slice(0, maxCompletions)
    .map(([username, name]) => ({ insert: `@${username}`, text: name, hint: `@${username}` }));
};

/** Numbers that start with the digits: 12, 120 to 129. Longer numbers need another digit. */
const withPrefix = (digits: string): number[] => [
  Number(digits),
  ...Array.from({ length: 10 }, (_one, digit) => Number(digits) * 10 + digit),
];

/** Completes to records of a project, by the start of their number or by words of their title. */
const completeNumber =
  (sign: '#' | '!', select: typeof selectIssues) =>
  async (visit: Visit, { search, project }: CompletionQuery): Promise<Completion[]> => {
    if (project === null) return [];
    const iids = /^[1-9]\d{0,7}$/.test(search) ? withPrefix(search) : null;
    const byTitle = search === '' ? null : { search, in: ['title'] };
    const records =
      iids === null
        ? await select(visit, project, byTitle, maxCompletions)
        : (await select(visit, project, { iids }, iids.length)).toSorted((a, b) => a.iid - b.iid);
    return records.slice(0, maxCompletions).map(({ iid, title, state }) => ({
      insert: `${sign}${iid}`,
      text: title,
      hint: state === 'opened' ? `${sign}${iid}` : `${sign}${iid} ${state}`,
    }));
  };

/** A name needs quotes unless `find_references.ts` reads it as one word. A number would be an id. */
const quoteName = (name: string): string =>
  /^[\p{L}\p{N}_][\p{L}\p{N}_\-?.&:]*(?<![?.&:-])$/u.test(name) && !/^\d+$/.test(name) ? name : `"${name}"`;

/** Names that are in no reference, even in quotes. */
const isNameable = ({ title }: { title: string }): boolean => !title.includes('"');

const completeLabel = async (visit: Visit, { search, project }: CompletionQuery): Promise<Completion[]> => {
  const owner = permitted(visit, project, 'read_label');
  if (owner === null) return [];
  const filter = { search, include_ancestor_groups: true };
  const { items } = await listLabels(visit.call, projectOwner(owner), filter, firstPage);
  return items
    .filter(isNameable)
    .map(({ title, color }) => ({ insert: `~${quoteName(title)}`, text: title, color }));
};

const completeMilestone = async (
  visit: Visit,
  { search, project }: CompletionQuery,
): Promise<Completion[]> => {
  const owner = permitted(visit, project, 'read_milestone');
  if (owner === null) return [];
  const active = { state: 'active' as const, include_ancestors: true, include_parent_milestones: true };
  const filter = { ...active, search_title: search };
  const { items } = await listMilestones(visit.call.db, projectOwner(owner), filter, firstPage);
  return items.filter(isNameable).map(({ title, due_date }) => ({
    insert: `%${quoteName(title)}`,
    text: title,
    ...(due_date !== null && { hint: `due ${due_date}` }),
  }));
};

const completeEmoji = (_visit: Visit, { search }: CompletionQuery): Completion[] =>
  findEmoji(search)
    .slice(0, maxCompletions)
    .map(({ name, emoji }) => ({ insert: `:${name}:`, text: `${emoji} ${name}` }));

/** Completes to all quick actions that fit: people who type a slash look for their names. */
const completeCommand = (_visit: Visit, { search, actions }: CompletionQuery): Completion[] => {
  const typed = search.toLowerCase();
  const fitting = (actions === null ? [] : actionsIn(actions)).filter(({ words }) =>
    words.some((word) => word.includes(typed)),
  );
  const isStart = ({ words: [word] }: (typeof fitting)[number]): boolean => word.startsWith(typed);
  return [...fitting.filter(isStart), ...fitting.filter((one) => !isStart(one))].map(
    ({ words: [word], argument, about }) => ({
      insert: `/${word}`,
      text: `/${word}`,
      hint: argument === undefined ? about : `${argument} · ${about}`,
    }),
  );
};

/** Finds completions by kind: at most eight, except of quick actions. */
export const completions = {
  user: completeUser,
  issue: completeNumber('#', selectIssues),
  merge_request: completeNumber('!', selectMergeRequests),
  label: completeLabel,
  milestone: completeMilestone,
  emoji: completeEmoji,
  command: completeCommand,
};

export const completionKinds = [
  'user',
  'issue',
  'merge_request',
  'label',
  'milestone',
  'emoji',
  'command',
] as const;
