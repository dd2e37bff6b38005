/**
 * The texts of system notes, which the service writes under an issue or merge request when a user
 * changes it. Each function returns null when nothing changed, so that no note is written. The texts are
 * part of what clients read; none is written anywhere else.
 */
import type { TargetType } from '../../../platform/db/schema/column_types.ts';
import { formatDuration } from '../../../platform/duration.ts';
import { type Task, parseTask } from './tasks.ts';
import { isWorkInProgress, withoutWorkInProgress } from './draft_title.ts';

/** Cause of closing an issue: a merge request, with the full path of its project if different, or a commit. */
export type ClosedBy = { merge_request_iid: number; project?: string } | { sha: string };

export type IssuableState = 'opened' | 'closed' | 'merged' | 'locked';

/** `closed`, `reopened`, `merged`, `closed via merge request !3`, `closed via commit <sha>`. */
export const stateText = (before: IssuableState, now: IssuableState, by?: ClosedBy): string | null => {
  if (before === now) return null;
  if (now === 'merged') return 'merged';
  if (now === 'opened') return before === 'closed' ? 'reopened' : null;
  if (now !== 'closed') return null;
  if (by === undefined) return 'closed';
  if ('sha' in by) return `closed via commit ${by.sha}`;
  return `closed via merge request ${by.project ?? ''}!${by.merge_request_iid}`;
};

/**
 * `changed title from **Fix {-tpyo-}** to **Fix {+typo+}**`: the marks enclose the text between the longest common
 * prefix and suffix, and are missing if it is empty.
 */
export const titleText = (before: string, now: string): string | null => {
  if (before === now) return null;
  const old = [...before];
  const next = [...now];
  const shorter = Math.min(old.length, next.length);
  let start = 0;
  while (start < shorter && old[start] === next[start]) start++;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === next.at(-1 - end)) end++;
  return `changed title from **${marked(old, start, end, '-')}** to **${marked(next, start, end, '+')}**`;
};

/** Like `titleText`, but a title that only gained or lost a draft prefix does not count as changed. */
export const mergeRequestTitleText = (before: string, now: string): string | null => {
  return withoutWorkInProgress(before) === withoutWorkInProgress(now) ? null : titleText(before, now);
};

/** Compares a merge request's titles: `marked as a **Work In Progress**` or `unmarked …`. */
export const workInProgressText = (titleBefore: string, titleNow: string): string | null => {
  const now = isWorkInProgress(titleNow);
  if (isWorkInProgress(titleBefore) === now) return null;
  return `${now ? 'marked' : 'unmarked'} as a **Work In Progress**`;
};

/**
 * `changed the description`, or, if all that changed is the box of one task, `marked the task **x** as
 * completed` or `as incomplete`. No description (null) is the same as an empty one.
 */
export const descriptionText = (before: string | null, now: string | null): string | null => {
  if ((before ?? '') === (now ?? '')) return null;
  const task = toggledTask(before ?? '', now ?? '');
  if (task === null) return 'changed the description';
  return `marked the task **${task.text}** as ${task.done ? 'completed' : 'incomplete'}`;
};

/** Input: user names. Output: `assigned to @a and @b`, `assigned to @a and unassigned @b`, `removed assignee`. */
export const issueAssigneesText = (before: string[], now: string[]): string | null => {
  const { added, removed } = difference(before, now);
  if (added.length === 0 && removed.length === 0) return null;
  if (now.length === 0) return 'removed assignee';
  const parts: string[] = [];
  if (added.length > 0) parts.push(`assigned to ${sentence(added)}`);
  if (removed.length > 0) parts.push(`unassigned ${sentence(removed)}`);
  return parts.join(' and ');
};

/** Input: user names, null for nobody. Output: `assigned to @a`, `removed assignee`. */
export const mergeRequestAssigneeText = (before: string | null, now: string | null): string | null => {
  if (before === now) return null;
  return now === null ? 'removed assignee' : `assigned to @${now}`;
};

/** Input: user names. Output: `requested review from @a and @b`, `removed review request for @c`, or both. */
export const reviewersText = (before: string[], now: string[]): string | null => {
  const { added, removed } = difference(before, now);
  const parts: string[] = [];
  if (added.length > 0) parts.push(`requested review from ${sentence(added)}`);
  if (removed.length > 0) parts.push(`removed review request for ${sentence(removed)}`);
  return parts.length === 0 ? null : parts.join(' and ');
};

/** Input: label ids. Output: `added ~1 ~2 labels`, `added ~1 and removed ~2 labels`, `removed ~2 label`. */
export const labelsText = (before: number[], now: number[]): string | null => {
  const { added, removed } = difference(before, now);
  const parts: string[] = [];
  if (added.length > 0) parts.push(`added ${labelList(added)}`);
  if (removed.length > 0) parts.push(`removed ${labelList(removed)}`);
  if (parts.length === 0) return null;
  return `${parts.join(' and ')} ${added.length + removed.length === 1 ? 'label' : 'labels'}`;
};

/** Input: milestone iids, null for none. Output: `changed milestone to %1`, `removed milestone`. */
export const milestoneText = (before: number | null, now: number | null): string | null => {
  if (before === now) return null;
  return now === null ? 'removed milestone' : `changed milestone to %${now}`;
};

/** `made the issue confidential` or `made the issue visible to everyone`. */
export const confidentialText = (before: boolean, now: boolean): string | null => {
  if (before === now) return null;
  return now ? 'made the issue confidential' : 'made the issue visible to everyone';
};

/** `locked the discussion in this issue` or `unlocked the discussion in this merge request`. */
export const lockText = (type: TargetType, before: boolean, now: boolean): string | null => {
  if (before === now) return null;
  return `${now ? 'locked' : 'unlocked'} the discussion in this ${type === 'Issue' ? 'issue' : 'merge request'}`;
};

/** Input: seconds, 0 for no estimate. Output: `changed time estimate to 3d 5h`, `removed time estimate`. */
export const timeEstimateText = (before: number, now: number): string | null => {
  if (before === now) return null;
  const duration = formatDuration(now);
  return duration === null ? 'removed time estimate' : `changed time estimate to ${duration}`;
};

/** Input: seconds added, negative if subtracted. Output: `added 2h 30m of time spent`, `subtracted 1h …`. */
export const timeSpentText = (seconds: number): string | null => {
  const duration = formatDuration(Math.abs(seconds));
  if (duration === null) return null;
  return `${seconds > 0 ? 'added' : 'subtracted'} ${duration} of time spent`;
};

/** Input: the total in seconds that is reset to 0. Output: `removed time spent`. */
export const timeSpentResetText = (totalBefore: number): string | null => {
  return totalBefore === 0 ? null : 'removed time spent';
};

/** Input: seconds of the entry, and its day. Output: `deleted 2h 30m of spent time from 2026-01-31`. */
export const timeEntryDeletedText = (seconds: number, day: string): string => {
  const duration = formatDuration(Math.abs(seconds)) ?? '0h';
  return `deleted ${seconds < 0 ? '-' : ''}${duration} of spent time from ${day}`;
};

/** Under the old issue, from the new one's project (full path) and iid: `moved to group/proj#11`. */
export const movedToText = (project: string, iid: number): string => {
  return `moved to ${project}#${iid}`;
};

/** Under the new issue, from the old one's project (full path) and iid: `moved from group/proj#3`. */
export const movedFromText = (project: string, iid: number): string => {
  return `moved from ${project}#${iid}`;
};

/** Under the original issue, with the clone's project (full path) and iid: `cloned to group/proj#12`. */
export const clonedToText = (project: string, iid: number): string => {
  return `cloned to ${project}#${iid}`;
};

/** Under the clone, with the original's project (full path) and iid: `cloned from group/proj#3`. */
export const clonedFromText = (project: string, iid: number): string => {
  return `cloned from ${project}#${iid}`;
};

/** Record that mentions an issue or merge request, with the full path of its project if different. */
export type MentionedBy = { project?: string | undefined } & (
  | { issue_iid: number }
  | { merge_request_iid: number }
  | { sha: string }
);

/** `mentioned in issue #4`, `mentioned in merge request group/proj!2`, `mentioned in commit group/proj@<sha>`. */
export const mentionedText = (by: MentionedBy): string => {
  const project = by.project ?? '';
  if ('issue_iid' in by) return `mentioned in issue ${project}#${by.issue_iid}`;
  if ('merge_request_iid' in by) return `mentioned in merge request ${project}!${by.merge_request_iid}`;
  return `mentioned in commit ${project === '' ? '' : `${project}@`}${by.sha}`;
};

/** Issue at the other end of a link, with the full path of its project if different. */
export type LinkedIssueReference = { project?: string | undefined; iid: number };

const linkPhrases = {
  relates_to: 'marked this issue as related to',
  blocks: 'marked this issue as blocking',
  is_blocked_by: 'marked this issue as blocked by',
} as const;

const unlinkedPhrase = 'removed the relation with';

/** All phrases that precede the reference to a linked issue. */
export const linkedIssuePhrases: readonly string[] = [...Object.values(linkPhrases), unlinkedPhrase];

/** `marked this issue as related to #2`, `… as blocking group/proj#2`, `… as blocked by #2`. */
export const linkedText = (
  type: keyof typeof linkPhrases,
  { project = '', iid }: LinkedIssueReference,
): string => `${linkPhrases[type]} ${project}#${iid}`;

/** `removed the relation with #2`. */
export const unlinkedText = ({ project = '', iid }: LinkedIssueReference): string =>
  `${unlinkedPhrase} ${project}#${iid}`;

/** Rewrites a text on a linked issue for another project: adds the path of `project`, where it was written. */
export const linkedElsewhereText = (text: string, project: string): string => {
  const phrase = linkedIssuePhrases.find((one) => text.startsWith(`${one} #`));
  return phrase === undefined ? text : `${phrase} ${project}${text.slice(phrase.length + 1)}`;
};

/** Rewrites a "mentioned in" text for another project: adds the path of `project`, where it was written. */
export const mentionedElsewhereText = (text: string, project: string): string => {
  const [, words, own] =
    /^(mentioned in (?:issue |merge request |commit ))([#!]\d+|[0-9a-f]+)$/.exec(text) ?? [];
  if (words === undefined || own === undefined) return text;
  return `${words}${project}${/^[#!]/.test(own) ? '' : '@'}${own}`;
};

/** Input: branch names. Output: ``changed target branch from `a` to `b` ``. */
export const targetBranchText = (before: string, now: string): string | null => {
  return before === now ? null : `changed target branch from \`${before}\` to \`${now}\``;
};

/** The characters of a title with `{-…-}` or `{+…+}` around all but `start` and `end` of them. */
const marked = (title: string[], start: number, end: number, sign: '-' | '+'): string => {
  const middle = title.slice(start, title.length - end).join('');
  const mark = middle === '' ? '' : `{${sign}${middle}${sign}}`;
  return title.slice(0, start).join('') + mark + title.slice(title.length - end).join('');
};

/** Returns the only task whose box differs, in its new state; null if anything else differs. */
const toggledTask = (before: string, now: string): Task | null => {
  const old = before.split('\n').map(withoutReturn);
  const next = now.split('\n').map(withoutReturn);
  if (old.length !== next.length) return null;
  const changed = next.findIndex((line, index) => line !== old[index]);
  if (changed === -1 || next.findLastIndex((line, index) => line !== old[index]) !== changed) return null;
  const oldTask = parseTask(old[changed] ?? '');
  const task = parseTask(next[changed] ?? '');
  return task && oldTask && task.text === oldTask.text && task.done !== oldTask.done ? task : null;
};

const withoutReturn = (line: string): string => {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
};

const difference = <T>(before: T[], now: T[]): { added: T[]; removed: T[] } => {
  const old = new Set(before);
  const next = new Set(now);
  return { added: [...next.difference(old)], removed: [...old.difference(next)] };
};

/** `@a`, `@a and @b`, `@a, @b, and @c`. */
const sentence = (usernames: string[]): string => {
  const mentions = usernames.map((username) => `@${username}`);
  const last = mentions.pop() ?? '';
  if (mentions.length === 0) return last;
  return `${mentions.join(', ')}${mentions.length > 1 ? ',' : ''} and ${last}`;
};

const labelList = (ids: number[]): string => {
  return ids.map((id) => `~${id}`).join(' ');
};
