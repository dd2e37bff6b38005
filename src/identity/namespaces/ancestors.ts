import { type RawBuilder, sql } from 'kysely';

/** Subquery: the ids of a namespace and of all groups above it. */
export const selectAncestors = (namespaceId: number): RawBuilder<number> => sql<number>`(
  with recursive ancestors (id, parent_id) as (
    select id, parent_id from namespaces where id = ${namespaceId}
    union
    select namespaces.id, namespaces.parent_id from namespaces join ancestors on namespaces.id = ancestors.parent_id
  ) select id from ancestors)`;

/** Subquery: the ids of a namespace and of all groups below it. */
export const selectDescendants = (namespaceId: number): RawBuilder<number> => sql<number>`(
  with recursive descendants (id) as (
    select id from namespaces where id = ${namespaceId}
    union
    select namespaces.id from namespaces join descendants on namespaces.parent_id = descendants.id
  ) select id from descendants)`;

/** Subquery: the id of a group, and on request the ids of all groups below it. */
export const selectGroups = (groupId: number, withDescendants: boolean): RawBuilder<number> =>
  withDescendants ? selectDescendants(groupId) : sql<number>`(${groupId})`;
