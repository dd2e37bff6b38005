/** What a list's parameters select: the same rules for each of the three issue lists. */
import { type RawBuilder, sql } from 'kysely';
import { allOf } from '../access/visible.ts';
import type { Words } from '../db/engine.ts';
import { boolean, idOrWord, integers, names, oneOf, optional, text, time } from '../http/schema.ts';
import { type DueWord, dueCondition, dueWords } from './due.ts';
import { type Kind, type Named, type Names, type Wanted, personKey } from './named.ts';

type Condition = RawBuilder<boolean>;

const scopes = ['created-by-me', 'assigned-to-me', 'all'] as const;
const scopeAliases = { created_by_me: 'created-by-me', assigned_to_me: 'assigned-to-me' } as const;
const nobody = ['None', 'Any'] as const;

export const filterParams = {
  state: oneOf(['opened', 'closed', 'all'], { default: 'all', description: 'all by default' }),
  labels: optional(names({ description: 'names, all of which an issue must have; None, Any' })),
  milestone: optional(text({ description: 'title; None, Any, #upcoming, #started' })),
  author_id: optional(idOrWord([], 'issues created by this user')),
  author_username: optional(text()),
  assignee_id: optional(idOrWord(nobody, 'issues assigned to this user; 0 or None, Any')),
  assignee_username: optional(names()),
  my_reaction_emoji: optional(text({ description: 'issues the caller reacted to with it; None, Any' })),
  iids: optional(integers()),
  search: optional(text({ description: 'words that the title or the description has' })),
  confidential: optional(boolean()),
  created_after: optional(time('inclusive')),
  created_before: optional(time('inclusive')),
  updated_after: optional(time('inclusive')),
  updated_before: optional(time('inclusive')),
  due_date: optional(oneOf(dueWords, { description: 'when issues are due; 0: those without a due date' })),
  non_archived: optional(boolean({ description: 'only issues of projects that are not archived' })),
  order_by: oneOf(['created_at', 'updated_at'], { default: 'created_at' }),
  sort: oneOf(['asc', 'desc'], { default: 'desc' }),
};

export const scopeParam = (options: { default?: 'created-by-me' } = {}) =>
  oneOf(scopes, { ...options, aliases: scopeAliases });

export type Filters = {
  scope: (typeof scopes)[number];
  state: 'opened' | 'closed' | 'all';
  labels?: string[];
  milestone?: string;
  author_id?: number;
  author_username?: string;
  assignee_id?: number | 'None' | 'Any';
  assignee_username?: string[];
  my_reaction_emoji?: string;
  iids?: number[];
  search?: string;
  confidential?: boolean;
  created_after?: number;
  created_before?: number;
  updated_after?: number;
  updated_before?: number;
  due_date?: DueWord;
  non_archived?: boolean;
  order_by: 'created_at' | 'updated_at';
  sort: 'asc' | 'desc';
};

const among = (words: string[]) => {
  return (word: string): boolean => words.includes(word.toLowerCase());
};
const isNoLabel = among(['none', 'no label', 'no+label']);
const isAnyLabel = among(['any', 'any label']);
const isNoMilestone = among(['none', 'no milestone']);
const isAnyMilestone = among(['any', 'any milestone']);
const isMilestoneWord = (word: string): boolean =>
  isNoMilestone(word) || isAnyMilestone(word) || among(['#upcoming', '#started'])(word);

/** Titles of labels, all of which an issue must have. */
const titlesOf = ({ labels = [] }: Filters): string[] =>
  labels.some(isNoLabel) ? [] : [...new Set(labels.filter((title) => !isAnyLabel(title)))];

const milestonesOf = ({ milestone = '' }: Filters): string[] =>
  milestone === '' || isMilestoneWord(milestone) ? [] : [milestone];

const authorsOf = ({ scope, author_id, author_username }: Filters, userId: number): (number | string)[] => [
  ...(scope === 'created-by-me' ? [userId] : []),
  ...(author_id === undefined ? [] : [author_id]),
  ...(author_username ? [author_username] : []),
];

const assigneesOf = ({ scope, assignee_id, assignee_username = [] }: Filters, userId: number) => [
  ...(scope === 'assigned-to-me' ? [userId] : []),
  ...(typeof assignee_id === 'number' && assignee_id !== 0 ? [assignee_id] : []),
  ...assignee_username,
];

const within = (column: RawBuilder<unknown>, after?: number, before?: number): Condition[] => [
  ...(after === undefined ? [] : [sql<boolean>`${column} >= ${after}`]),
  ...(before === undefined ? [] : [sql<boolean>`${column} <= ${before}`]),
];

const created = ({ created_after, created_before }: Filters): Condition[] =>
  within(sql`issues.created_at`, created_after, created_before);
const updated = ({ updated_after, updated_before }: Filters): Condition[] =>
  within(sql`issues.updated_at`, updated_after, updated_before);

/** A period in the column that the list is not in the order of. */
const periodOf = (filters: Filters): Condition | null => {
  const conditions = filters.order_by === 'created_at' ? updated(filters) : created(filters);
  return conditions.length === 0 ? null : allOf(conditions);
};

/** What of the filters has to be looked up. */
export const wantedOf = (filters: Filters, userId: number): Wanted => ({
  labels: titlesOf(filters),
  milestones: milestonesOf(filters),
  authors: authorsOf(filters, userId),
  assignees: assigneesOf(filters, userId),
  period: periodOf(filters),
});

const links = sql`label_links where label_links.target_type = 'Issue' and label_links.target_id = issues.id`;

const labelWords = ({ labels = [] }: Filters): Condition[] => {
  if (labels.some(isNoLabel)) return [sql`not exists (select 1 from ${links})`];
  return labels.some(isAnyLabel) ? [sql`exists (select 1 from ${links})`] : [];
};

const milestoneWords = ({ milestone = '' }: Filters, today: string): Condition[] => {
  if (isNoMilestone(milestone)) return [sql`issues.milestone_id is null`];
  if (isAnyMilestone(milestone)) return [sql`issues.milestone_id is not null`];
  const active = sql`select id from milestones where state = 'active'`;
  switch (milestone.toLowerCase()) {
    case '#upcoming':
      return [
        sql`issues.milestone_id in (${active} and (start_date is null or start_date > ${today}) and due_date > ${today})`,
      ];
    case '#started':
      return [sql`issues.milestone_id in (${active} and start_date <= ${today})`];
    default:
      return [];
  }
};

const assigned = sql`assignees where assignees.target_type = 'Issue' and assignees.target_id = issues.id`;

const assigneeWords = ({ assignee_id }: Filters): Condition[] => {
  if (assignee_id === 'None' || assignee_id === 0) return [sql`not exists (select 1 from ${assigned})`];
  return assignee_id === 'Any' ? [sql`exists (select 1 from ${assigned})`] : [];
};

const reactionConditions = ({ my_reaction_emoji = '' }: Filters, userId: number): Condition[] => {
  if (my_reaction_emoji === '') return [];
  const awards = sql`select target_id from award_emoji where user_id = ${userId} and target_type = 'Issue'`;
  const word = my_reaction_emoji.toLowerCase();
  if (word === 'none') return [sql`issues.id not in (${awards})`];
  if (word === 'any') return [sql`issues.id in (${awards})`];
  return [sql`issues.id in (${awards} and name = ${my_reaction_emoji})`];
};

/** A record that an issue must have, or be of. */
export type Needed = { kind: Kind; named: Named; condition: Condition };

/** What the filters name, each with its condition. */
const neededOf = (filters: Filters, { names, words, userId }: FilterContext): Needed[] => {
  const need = (kind: Kind, name: string, condition: (named: Named) => Condition): Needed => {
    const named = names(kind, name);
    return { kind, named, condition: condition(named) };
  };
  const { labels, milestones, authors, assignees } = wantedOf(filters, userId);
  const linked = (title: string): Needed =>
    need(
      'label',
      title,
      ({ ids }) => sql`exists (select 1 from ${links} and ${words.oneOf('label_links.label_id', ids)})`,
    );
  return [
    ...labels.map(linked),
    ...milestones.map((title) =>
      // One id by itself keeps the order of the milestone's index.
      need('milestone', title, ({ ids }) =>
        ids.length === 1 ? sql`issues.milestone_id = ${ids[0]}` : words.oneOf('issues.milestone_id', ids),
      ),
    ),
    ...authors.map((user) =>
      need('author', personKey(user), ({ ids }) => sql`issues.author_id = ${ids[0] ?? 0}`),
    ),
    ...assignees.map((user) =>
      need(
        'assignee',
        personKey(user),
        ({ ids }) => sql`exists (select 1 from ${assigned} and assignees.user_id = ${ids[0] ?? 0})`,
      ),
    ),
  ];
};

export type FilterContext = { names: Names; words: Words; userId: number; today: string };

export type Selection = { needed: Needed[]; others: Condition[] };

/** The conditions that the filters make, but the search; null: nothing has what they name. */
export const selectionOf = (filters: Filters, context: FilterContext): Selection | null => {
  const needed = neededOf(filters, context);
  if (needed.some(({ named }) => named.ids.length === 0)) return null;
  const others = [
    ...created(filters),
    ...updated(filters),
    ...labelWords(filters),
    ...milestoneWords(filters, context.today),
    ...assigneeWords(filters),
    ...reactionConditions(filters, context.userId),
  ];
  if (filters.state !== 'all') others.push(sql`issues.state = ${filters.state}`);
  if (filters.confidential !== undefined)
    others.push(sql`issues.confidential = ${filters.confidential ? 1 : 0}`);
  if (filters.due_date !== undefined) others.push(dueCondition(filters.due_date, context.today));
  if (filters.non_archived === true) {
    others.push(sql`issues.project_id in (select id from projects where archived = 0)`);
  }
  if (filters.iids !== undefined && filters.iids.length > 0) {
    others.push(context.words.oneOf('issues.iid', filters.iids));
  }
  return { needed, others };
};
