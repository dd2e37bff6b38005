/** `changes` of issues and merge requests: what an edit changed, with the values before and after. Pure. */
import { isWorkInProgress } from '../../planning/issuables/text/draft_title.ts';
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

const listLabels = ({ snapshot: { records, removed_labels = [] } }: Context): LabelFacts[] => [
  ...((records.issue ?? records.merge_request)?.labels ?? []),
  ...removed_labels,
];

const conversions: Record<string, Convert> = {
  state: (_context, [before, after]) => [['state_id', pair(states[before] ?? null, states[after] ?? null)]],
  title: (_context, [before, after]) => {
    const [was, is] = [isWorkInProgress(before), isWorkInProgress(after)];
    return [
      ['title', pair(before, after)],
      ...(was === is ? [] : [['draft', pair(was, is)] as [string, Pair]]),
    ];
  },
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
  confidential: (_context, [before, after]) => [['confidential', pair(before === 1, after === 1)]],
  discussion_locked: (_context, [before, after]) => [['discussion_locked', pair(before === 1, after === 1)]],
  closed_at: (_context, [before, after]: [number | null, number | null]) => [
    ['closed_at', pair(formatTimeOrNull(before), formatTimeOrNull(after))],
  ],
};

/** Columns whose values are sent as they are. */
const plain = [
  'milestone_id',
  'due_date',
  'target_branch',
  'closed_by_id',
  'merge_when_pipeline_succeeds',
  'time_estimate',
  'total_time_spent',
];

const isPair = (value: unknown): value is [never, never] => Array.isArray(value) && value.length === 2;

const convert = (context: Context, [name, values]: [string, unknown]): [string, Pair][] => {
  if (!isPair(values)) return [];
  const conversion = Object.hasOwn(conversions, name) ? conversions[name] : undefined;
  if (conversion !== undefined) return conversion(context, values);
  return plain.includes(name) ? [[name, pair(values[0], values[1])]] : [];
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
