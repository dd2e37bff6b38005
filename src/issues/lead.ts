/** What a list is read along: the index that gives its order, or the fewest issues to sort. */
import { type RawBuilder, sql } from 'kysely';
import type { Words } from '../db/engine.ts';
import type { Filters, Needed, Selection } from './filters.ts';
import { type Named, many } from './named.ts';

export type Lead = {
  /** The tables in the order in which they are read, `issues` among them. */
  tables: RawBuilder<unknown>;
  /** What joins them, and all that the filters ask for. */
  conditions: RawBuilder<boolean>[];
  order: [RawBuilder<unknown>, RawBuilder<unknown>];
};

type Place = 'project' | 'everywhere';
type Parts = { filters: Filters; selection: Selection; words: Words; place: Place };

const byIssue = ({ order_by }: Filters): Lead['order'] => [sql.ref(`issues.${order_by}`), sql`issues.id`];

const conditionsOf = ({ needed, others }: Selection, but?: Needed): RawBuilder<boolean>[] => [
  ...needed.filter((one) => one !== but).map(({ condition }) => condition),
  ...others,
];

/** Along links, which repeat when their issue was created. */
const alongLinks = (kind: 'label' | 'assignee', need: Needed, { filters, selection }: Parts): Lead => {
  const [table, column] = kind === 'label' ? ['label_links', 'label_id'] : ['assignees', 'user_id'];
  return {
    tables: sql`${sql.table(table)} as led cross join issues`,
    conditions: [
      sql`led.target_type = 'Issue' and led.${sql.ref(column)} = ${need.named.ids[0]}`,
      sql`issues.id = led.target_id`,
      ...conditionsOf(selection, need),
    ],
    order:
      filters.order_by === 'created_at' ? [sql`led.target_created_at`, sql`led.target_id`] : byIssue(filters),
  };
};

const alongIndex = (index: string, { filters, selection, words }: Parts): Lead => ({
  tables: sql`issues ${words.indexedBy(index)}`,
  conditions: conditionsOf(selection),
  order: byIssue(filters),
});

const indexOfTime = (column: 'created_at' | 'updated_at', { filters, place }: Parts): string => {
  const word = column === 'created_at' ? 'created' : 'updated';
  if (place === 'everywhere') return `issues_all_${word}`;
  return filters.state === 'all' ? `issues_${word}` : `issues_state_${word}`;
};

const along = (need: Needed, parts: Parts): Lead => {
  switch (need.kind) {
    case 'label':
    case 'assignee':
      return alongLinks(need.kind, need, parts);
    case 'milestone':
      return alongIndex('issues_milestone', parts);
    default:
      return alongIndex(parts.place === 'project' ? 'issues_project_author' : 'issues_author', parts);
  }
};

/** Filters of which the engine itself knows best how much they select. */
const isFree = ({ iids = [], search = '', my_reaction_emoji = '' }: Filters): boolean =>
  iids.length > 0 || search !== '' || !['', 'none'].includes(my_reaction_emoji.toLowerCase());

const fewest = (some: Needed[]): Needed | undefined =>
  some.filter(({ named }) => named.ids.length === 1).toSorted((a, b) => a.named.uses - b.named.uses)[0];

/**
 * Of what the filters name, that which the fewest issues have. It leads a list in the order of creation, for its
 * index is in that order; any other list only where the issues are so few that they can be sorted.
 * @param period the issues of a period in the other order's column; null: no such filter
 */
export const leadOf = (parts: Parts, period: Named | null): Lead => {
  const { filters, selection } = parts;
  const isCreated = filters.order_by === 'created_at';
  // At most as many issues as iids are named: the engines, which do not know how few, would rather scan.
  if (parts.place === 'project' && (filters.iids ?? []).length > 0) return alongIndex('issues_iid', parts);
  const need = fewest(selection.needed);
  const uses = need === undefined ? many : need.named.uses;
  if (period !== null && period.uses < uses) {
    return alongIndex(indexOfTime(isCreated ? 'updated_at' : 'created_at', parts), parts);
  }
  if (need !== undefined && (isCreated || uses < many)) return along(need, parts);
  if (isFree(filters))
    return { tables: sql`issues`, conditions: conditionsOf(selection), order: byIssue(filters) };
  return alongIndex(indexOfTime(filters.order_by, parts), parts);
};
