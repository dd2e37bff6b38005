/** `changes` of issues and merge requests: what an edit changed, with the values before and after. Pure. */
import { isWorkInProgress } from '../../planning/issuables/text/draft_title.ts';
import type { IssuesTable } from '../../platform/db/schema/planning.ts';
import type { MergeRequestsTable } from '../../platform/db/schema/review.ts';
import { formatTime, formatTimeOrNull } from '../../platform/time.ts';
import type { LabelFacts } from '../changes/snapshots/snapshot.ts';
import { formerReviewersJson, listRepeatedRequests, reviewersJson } from './reviewers.ts';
import { labelJson, usersJson } from './shared_payload_parts.ts';
import type { Context } from './context.ts';

type Pair = { previous: unknown; current: unknown };

const pair = (previous: unknown, current: unknown): Pair => ({ previous, current });

const states: Record<string, number> = { opened: 1, closed: 2, merged: 3, locked: 4 };

/** A label by its title; one that is gone has nothing but its title. */
const labelByTitle = (labels: readonly LabelFacts[], title: string): object => {
  const label = labels.find((one) => one.title === title);
  return label === undefined ? { title } : labelJson(label);
};

type Convert = (context: Context, values: [never, never]) => [string, Pair][];

type Treatment = Convert | 'as it is' | 'unsent';

const listLabels = ({ snapshot: { records, removed_labels = [] } }: Context): LabelFacts[] => [
  ...((records.issue ?? records.merge_request)?.labels ?? []),
  ...removed_labels,
];

/** Changes of what is not a column. */
const relationChanges: Record<string, Convert> = {
  labels: (context, [before, after]: [string[], string[]]) => {
    const toLabels = (titles: string[]) => titles.map((title) => labelByTitle(listLabels(context), title));
    return [['labels', pair(toLabels(before), toLabels(after))]];
  },
  assignee_ids: (context, [before, after]: [number[], number[]]) => [
    ['assignees', pair(usersJson(context, before), usersJson(context, after))],
  ],
  reviewer_ids: (context, [before, after]: [number[], number[]]) => [
    ['reviewers', pair(formerReviewersJson(context, before), reviewersJson(context, after))],
  ],
};

/** How a change of each column is sent: converted, with its values as they are, or not at all. */
export const columnChanges: Record<keyof IssuesTable | keyof MergeRequestsTable, Treatment> = {
  state: (_context, [before, after]) => [['state_id', pair(states[before] ?? null, states[after] ?? null)]],
  title: (_context, [before, after]) => {
    const [was, is] = [isWorkInProgress(before), isWorkInProgress(after)];
    return [
      ['title', pair(before, after)],
      ...(was === is ? [] : [['draft', pair(was, is)] as [string, Pair]]),
    ];
  },
  confidential: (_context, [before, after]) => [['confidential', pair(before === 1, after === 1)]],
  discussion_locked: (_context, [before, after]) => [['discussion_locked', pair(before === 1, after === 1)]],
  closed_at: (_context, [before, after]: [number | null, number | null]) => [
    ['closed_at', pair(formatTimeOrNull(before), formatTimeOrNull(after))],
  ],
  milestone_id: 'as it is',
  due_date: 'as it is',
  target_branch: 'as it is',
  closed_by_id: 'as it is',
  merge_when_pipeline_succeeds: 'as it is',
  time_estimate: 'as it is',
  total_time_spent: 'as it is',
  // The log of changes lacks them: `changesJson` adds them.
  description: 'unsent',
  updated_at: 'unsent',
  id: 'unsent',
  iid: 'unsent',
  project_id: 'unsent',
  source_project_id: 'unsent',
  moved_to_id: 'unsent',
  source_branch: 'unsent',
  author_id: 'unsent',
  squash: 'unsent',
  should_remove_source_branch: 'unsent',
  force_remove_source_branch: 'unsent',
  merge_params: 'unsent',
  merge_status: 'unsent',
  merge_error: 'unsent',
  merge_user_id: 'unsent',
  merge_commit_sha: 'unsent',
  squash_commit_sha: 'unsent',
  checked_source_sha: 'unsent',
  checked_target_sha: 'unsent',
  diff_id: 'unsent',
  head_sha: 'unsent',
  rebase_in_progress: 'unsent',
  user_notes_count: 'unsent',
  upvotes: 'unsent',
  downvotes: 'unsent',
  relative_position: 'unsent',
  merged_at: 'unsent',
  merged_by_id: 'unsent',
  last_edited_at: 'unsent',
  last_edited_by_id: 'unsent',
  created_at: 'unsent',
  deleted_at: 'unsent',
  revision: 'unsent',
};

const treatments: Record<string, Treatment> = { ...relationChanges, ...columnChanges };

const isPair = (value: unknown): value is [never, never] => Array.isArray(value) && value.length === 2;

const convert = (context: Context, [name, values]: [string, unknown]): [string, Pair][] => {
  if (!isPair(values)) return [];
  const treatment = Object.hasOwn(treatments, name) ? treatments[name] : undefined;
  if (typeof treatment === 'function') return treatment(context, values);
  return treatment === 'as it is' ? [[name, pair(values[0], values[1])]] : [];
};

/** Drops texts from before, when the subject was confidential. */
const withoutFormerTexts = (entries: [string, Pair][]): [string, Pair][] =>
  entries.filter(([name]) => name === 'confidential' || name === 'updated_at');

/** Reviewers who were asked again, where the list of reviewers stayed the same. */
const listRepeated = (context: Context): [string, Pair][] => {
  const { data, records } = context.snapshot;
  if ('reviewer_ids' in data || listRepeatedRequests(context).length === 0) return [];
  const ids = records.merge_request?.reviewers.map(({ user_id }) => user_id) ?? [];
  return [['reviewers', pair(formerReviewersJson(context, ids), reviewersJson(context, ids))]];
};

const timePair = (times: [number, number]): Pair => pair(formatTime(times[0]), formatTime(times[1]));

export const changesJson = (context: Context): { [name: string]: Pair } => {
  const { data, unlogged } = context.snapshot;
  const { description, updated_at } = unlogged;
  const entries: [string, Pair][] = [
    ...Object.entries(data).flatMap((entry) => convert(context, entry)),
    ...listRepeated(context),
    ...(description === undefined ? [] : [['description', pair(...description)] as [string, Pair]]),
    ...(updated_at === undefined ? [] : [['updated_at', timePair(updated_at)] as [string, Pair]]),
  ];
  const { confidential } = data as { confidential?: [number, number] };
  const wasConfidential = confidential?.[0] === 1 && confidential[1] === 0;
  return Object.fromEntries(wasConfidential ? withoutFormerTexts(entries) : entries);
};
