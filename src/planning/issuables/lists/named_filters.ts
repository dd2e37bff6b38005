/** Resolves labels, milestones and users in filters to ids, and estimates each filter's selectivity. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import type { Owner } from '../../../projects/project_or_group/owner.ts';
import { availableTo } from '../../../projects/project_or_group/owner.ts';
import type { Alternatives } from './hash_filters/alternative_filters.ts';
import type { Listed } from './record_kinds.ts';

/** Counts stop at this number. A filter that matches at least as many records is not selective. */
export const many = 1000;

/** Ids that a name resolves to, and the number of records that the filter matches (at most `many`). */
export type Named = { ids: number[]; uses: number };

export type NamedFilters = {
  /** Titles, or ids. */
  labels: (number | string)[];
  milestones: string[];
  /** Ids, or names of users. */
  authors: (number | string)[];
  assignees: (number | string)[];
  reviewers: (number | string)[];
  /** Names; a record must have one of them. */
  alternatives: Alternatives;
  indexed: IndexedCondition[];
};

/** An indexed condition on columns of the listed table. Its matches are counted to determine its selectivity. */
export type IndexedCondition = {
  name: string;
  condition: RawBuilder<boolean>;
  index: string;
  /** The index covers all filters and orders, so that even many matches are read only from it. */
  isCovering?: true;
};

export type NameKind = 'label' | 'milestone' | 'author' | 'assignee' | 'reviewer' | 'indexed';

export type Names = (kind: NameKind, name?: string) => Named;

type Row = { kind: NameKind; name: string; id: number; uses: number };

const upToMany = (from: RawBuilder<unknown>): RawBuilder<number> =>
  sql<number>`(select count(*) from (select 1 from ${from} limit ${sql.lit(many)}) as counted)`;

const titled = (
  table: 'labels' | 'milestones',
  titles: string[],
  owner: Owner | null,
): RawBuilder<unknown> => {
  const place = owner === null ? sql`1 = 1` : availableTo(table, owner);
  return sql`${sql.table(table)} where title in (${sql.join(titles)}) and ${place}`;
};

/** Returns the key that looks up a user: `#` and the id, or the name in lower case. */
export const personKey = (user: number | string): string =>
  typeof user === 'number' ? `#${user}` : user.toLowerCase();

/** Returns the key that looks up a label: the title, or the id after a comma, which no title has. */
export const labelKey = (label: number | string): string => (typeof label === 'number' ? `,${label}` : label);

const labelLookups = (
  labels: (number | string)[],
  uses: RawBuilder<number>,
  owner: Owner | null,
): RawBuilder<unknown>[] => {
  const ids = labels.filter((one) => typeof one === 'number');
  const titles = labels.filter((one) => typeof one === 'string');
  return [
    ...(titles.length > 0
      ? [
          sql`select 'label' as kind, title as name, id, ${uses} as uses from ${titled('labels', titles, owner)}`,
        ]
      : []),
    ...(ids.length > 0
      ? [
          sql`select 'label' as kind, ',' || id as name, id, ${uses} as uses from labels where id in (${sql.join(ids)})`,
        ]
      : []),
  ];
};

const people = (
  kind: 'author' | 'assignee' | 'reviewer',
  requestedUsers: (number | string)[],
  uses: RawBuilder<number>,
) => {
  const ids = requestedUsers.filter((one) => typeof one === 'number');
  const names = requestedUsers.filter((one) => typeof one === 'string').map(personKey);
  const byId = sql`select ${sql.lit(kind)} as kind, '#' || id as name, id, ${uses} as uses
    from users where id in (${sql.join(ids)})`;
  const byName = sql`select ${sql.lit(kind)} as kind, lower(username) as name, id, ${uses} as uses
    from users where lower(username) in (${sql.join(names)})`;
  return [...(ids.length > 0 ? [byId] : []), ...(names.length > 0 ? [byName] : [])];
};

const lookups = (kind: Listed, requested: NamedFilters, owner: Owner | null) => {
  const { labels, milestones, authors, assignees, reviewers, alternatives, indexed } = requested;
  const [table, type] = [sql.raw(kind.table), sql.lit(kind.type)];
  const ofLabel = upToMany(sql`label_links where label_id = labels.id and target_type = ${type}`);
  const ofMilestone = upToMany(sql`${table} where milestone_id = milestones.id and deleted_at is null`);
  const ofAuthor = upToMany(sql`${table} where author_id = users.id and deleted_at is null`);
  const ofAssignee = upToMany(sql`assignees where user_id = users.id and target_type = ${type}`);
  const ofReviewer = upToMany(sql`reviewers where user_id = users.id and target_type = ${type}`);
  const ofPlace = owner?.kind === 'projects' ? sql`project_id = ${owner.id}` : sql`1 = 1`;
  return [
    ...labelLookups([...labels, ...alternatives.labels], ofLabel, owner),
    ...(milestones.length > 0
      ? [
          sql`select 'milestone' as kind, title as name, id, ${ofMilestone} as uses
            from ${titled('milestones', milestones, owner)}`,
        ]
      : []),
    ...people('author', [...authors, ...alternatives.authors], ofAuthor),
    ...people('assignee', [...assignees, ...alternatives.assignees], ofAssignee),
    ...people('reviewer', [...reviewers, ...alternatives.reviewers], ofReviewer),
    ...indexed.map(
      ({ name, condition }) => sql`select 'indexed' as kind, ${sql.lit(name)} as name, 0 as id,
        ${upToMany(sql`${table} where ${ofPlace} and deleted_at is null and ${condition}`)} as uses`,
    ),
  ];
};

/**
 * Resolves all names in one statement.
 * @param owner The project or group whose records are filtered. Its labels and milestones, and those of its ancestor
 *   groups, are searched. Null: all labels and milestones.
 */
export const lookUp = async (
  kind: Listed,
  { db }: Pick<Call, 'db'>,
  requested: NamedFilters,
  owner: Owner | null,
): Promise<Names> => {
  const queries = lookups(kind, requested, owner);
  const { rows } =
    queries.length === 0 ? { rows: [] } : await sql<Row>`${sql.join(queries, sql` union all `)}`.execute(db);
  return (kindOfName, name = '') => {
    const matching = rows.filter((row) => row.kind === kindOfName && row.name === name);
    return { ids: matching.map(({ id }) => id), uses: matching.reduce((sum, { uses }) => sum + uses, 0) };
  };
};
