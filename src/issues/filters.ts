/** What a list's parameters select: the same rules for each of the three issue lists. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../access/call.ts';
import { allOf, anyOf } from '../access/visible.ts';
import { boolean, idOrWord, integers, names, oneOf, optional, text, time } from '../http/schema.ts';

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
  order_by: 'created_at' | 'updated_at';
  sort: 'asc' | 'desc';
};

const isNone = (word: string): boolean => ['none', 'no label', 'no+label'].includes(word.toLowerCase());
const isAny = (word: string): boolean => ['any', 'any label'].includes(word.toLowerCase());

const links = sql`label_links where label_links.target_type = 'Issue' and label_links.target_id = issues.id`;

const labelConditions = (titles: readonly string[], driven: boolean): Condition[] => {
  if (titles.some(isNone)) return [sql`not exists (select 1 from ${links})`];
  const named = titles.filter((title) => !isAny(title));
  const any = named.length < titles.length ? [sql<boolean>`exists (select 1 from ${links})`] : [];
  // The first one is what the list is read along (`labelDrive`).
  const rest = driven ? named.slice(1) : named;
  return [
    ...any,
    ...rest.map(
      (title) => sql<boolean>`exists (select 1 from ${links} and label_links.label_id in
        (select labels.id from labels where labels.title = ${title}))`,
    ),
  ];
};

/** The title whose links a list in default order is read along; null: none. */
export const drivingLabel = ({ labels = [], order_by }: Filters): string | null => {
  if (order_by !== 'created_at' || labels.some(isNone)) return null;
  return labels.find((title) => !isAny(title)) ?? null;
};

const milestoneCondition = (title: string, today: string): Condition => {
  switch (title.toLowerCase()) {
    case 'none':
    case 'no milestone':
      return sql`issues.milestone_id is null`;
    case 'any':
    case 'any milestone':
      return sql`issues.milestone_id is not null`;
    case '#upcoming':
      return sql`issues.milestone_id in (select id from milestones where state = 'active'
        and (start_date is null or start_date > ${today}) and due_date > ${today})`;
    case '#started':
      return sql`issues.milestone_id in (select id from milestones where state = 'active'
        and start_date <= ${today})`;
    default:
      return sql`issues.milestone_id in (select id from milestones where milestones.title = ${title})`;
  }
};

const assigned = sql`assignees where assignees.target_type = 'Issue' and assignees.target_id = issues.id`;
const isAssigned = (user: RawBuilder<unknown>): Condition =>
  sql`exists (select 1 from ${assigned} and assignees.user_id = ${user})`;
const userNamed = (username: string): RawBuilder<unknown> =>
  sql`(select users.id from users where lower(users.username) = ${username.toLowerCase()})`;

const assigneeCondition = (assignee: number | 'None' | 'Any'): Condition => {
  if (assignee === 'None' || assignee === 0) return sql`not exists (select 1 from ${assigned})`;
  return assignee === 'Any' ? sql`exists (select 1 from ${assigned})` : isAssigned(sql`${assignee}`);
};

const reactionCondition = (emoji: string, userId: number): Condition => {
  const awards = sql`award_emoji where award_emoji.target_type = 'Issue' and award_emoji.target_id = issues.id
    and award_emoji.user_id = ${userId}`;
  if (emoji.toLowerCase() === 'none') return sql`not exists (select 1 from ${awards})`;
  if (emoji.toLowerCase() === 'any') return sql`exists (select 1 from ${awards})`;
  return sql`exists (select 1 from ${awards} and award_emoji.name = ${emoji})`;
};

const peopleConditions = (filters: Filters, userId: number): Condition[] => {
  const { scope, author_id, author_username, assignee_id, assignee_username = [] } = filters;
  const conditions: Condition[] = assignee_username.map((name) => isAssigned(userNamed(name)));
  if (scope === 'created-by-me') conditions.push(sql`issues.author_id = ${userId}`);
  if (scope === 'assigned-to-me') conditions.push(isAssigned(sql`${userId}`));
  if (author_id !== undefined) conditions.push(sql`issues.author_id = ${author_id}`);
  if (author_username) conditions.push(sql`issues.author_id = ${userNamed(author_username)}`);
  if (assignee_id !== undefined) conditions.push(assigneeCondition(assignee_id));
  if (filters.my_reaction_emoji) conditions.push(reactionCondition(filters.my_reaction_emoji, userId));
  return conditions;
};

const timeConditions = (filters: Filters): Condition[] => {
  const conditions: Condition[] = [];
  const { created_after, created_before, updated_after, updated_before } = filters;
  if (created_after !== undefined) conditions.push(sql`issues.created_at >= ${created_after}`);
  if (created_before !== undefined) conditions.push(sql`issues.created_at <= ${created_before}`);
  if (updated_after !== undefined) conditions.push(sql`issues.updated_at >= ${updated_after}`);
  if (updated_before !== undefined) conditions.push(sql`issues.updated_at <= ${updated_before}`);
  return conditions;
};

export type FilterContext = { call: Call; userId: number; today: string; driven: boolean };

/** Every condition that the filters make, but the search; none: an empty list. */
export const filterConditions = (filters: Filters, { userId, today, driven }: FilterContext): Condition[] => {
  const conditions = [...peopleConditions(filters, userId), ...timeConditions(filters)];
  if (filters.state !== 'all') conditions.push(sql`issues.state = ${filters.state}`);
  if (filters.labels !== undefined) conditions.push(...labelConditions(filters.labels, driven));
  if (filters.milestone) conditions.push(milestoneCondition(filters.milestone, today));
  if (filters.confidential !== undefined) {
    conditions.push(sql`issues.confidential = ${filters.confidential ? 1 : 0}`);
  }
  if (filters.iids !== undefined && filters.iids.length > 0) {
    conditions.push(anyOf([sql`issues.iid in (${sql.join(filters.iids)})`]));
  }
  return conditions;
};

export const every = (conditions: Condition[]): Condition => allOf(conditions);
