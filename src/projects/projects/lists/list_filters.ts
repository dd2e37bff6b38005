/** The filters shared by all lists of projects, and their conditions. */
import type { Static } from 'typebox';
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { getMinRole } from '../../../core/access/min_role.ts';
import { projectsAtLeast, visibleFeature, visibleProjects } from '../../../core/access/visible.ts';
import { forbidden } from '../../../platform/errors.ts';
import {
  boolean,
  date,
  integer,
  names,
  object,
  oneOf,
  optional,
  text,
  time,
  unsupportedFilter,
} from '../../../platform/http/schema.ts';
import { visibilities } from '../../../identity/groups/rules.ts';
import { containsText } from '../../../platform/db/contains_text.ts';
import { hasTopic, hasTopicId } from '../topics.ts';

type Condition = RawBuilder<boolean>;

export const projectFilters = {
  archived: optional(boolean()),
  active: optional(boolean({ description: 'true: only active labels; false: only archived labels' })),
  visibility: optional(oneOf(visibilities)),
  search: optional(text({ description: 'part of the name or of the full path' })),
  search_namespaces: optional(
    boolean({ description: 'false: `search` matches the project path only, not the namespace' }),
  ),
  topic: optional(names({ maxItems: 20, description: 'only projects that have all these topics' })),
  owned: optional(boolean({ description: 'only projects that the caller owns' })),
  membership: optional(boolean({ description: 'only projects of which the caller is a member' })),
  starred: optional(boolean({ description: 'only projects that the caller starred' })),
  imported: optional(boolean({ description: 'only imported projects: always empty' })),
  min_access_level: optional(integer({ description: 'only projects in which the caller has this role' })),
  with_issues_enabled: optional(boolean()),
  with_merge_requests_enabled: optional(boolean()),
  id_after: optional(integer({ description: 'only projects with a greater id' })),
  id_before: optional(integer({ description: 'only projects with a smaller id' })),
  last_activity_after: optional(time()),
  last_activity_before: optional(time()),
  updated_after: optional(time()),
  updated_before: optional(time()),
  repository_storage: optional(text({ description: 'name of a storage (administrators)' })),
  custom_attributes: unsupportedFilter(),
  topic_id: optional(integer({ description: 'only projects that have the topic of this id' })),
  with_programming_language: unsupportedFilter(),
  wiki_checksum_failed: unsupportedFilter(['false']),
  repository_checksum_failed: unsupportedFilter(['false']),
  marked_for_deletion_on: optional(date('always empty: projects are deleted immediately')),
  with_security_reports: unsupportedFilter(['false']),
};

const shape = object(projectFilters);
export type ProjectFilters = Static<typeof shape>;

/** Over `projects`: the user starred the project. */
export const starredBy = (userId: number): Condition =>
  sql<boolean>`exists (select 1 from project_stars
    where project_stars.project_id = projects.id and project_stars.user_id = ${userId})`;

const matchesSearch = ({ search = '', search_namespaces = true }: ProjectFilters): Condition | null => {
  if (search === '') return null;
  const path = search_namespaces ? 'projects.full_path' : 'projects.path';
  return sql`(${containsText('projects.name', search)} or ${containsText(path, search)})`;
};

const isArchived = ({ archived, active }: ProjectFilters): (Condition | null)[] => [
  archived === undefined ? null : sql`projects.archived = ${archived ? 1 : 0}`,
  active === undefined ? null : sql`projects.archived = ${active ? 0 : 1}`,
];

const isWithin = (filters: ProjectFilters): (Condition | null)[] => {
  const { id_after, id_before, last_activity_after, last_activity_before } = filters;
  const { updated_after, updated_before } = filters;
  return [
    id_after === undefined ? null : sql`projects.id > ${id_after}`,
    id_before === undefined ? null : sql`projects.id < ${id_before}`,
    last_activity_after === undefined ? null : sql`projects.last_activity_at >= ${last_activity_after}`,
    last_activity_before === undefined ? null : sql`projects.last_activity_at <= ${last_activity_before}`,
    updated_after === undefined ? null : sql`projects.updated_at >= ${updated_after}`,
    updated_before === undefined ? null : sql`projects.updated_at <= ${updated_before}`,
  ];
};

/** Conditions by the caller's roles and usable features. */
const isForCaller = ({ viewer, platform }: Call, filters: ProjectFilters): (Condition | null)[] => {
  const { dialect } = platform.store;
  const level = getMinRole(filters);
  // An administrator's own projects are projects in which they were granted a role.
  const own = { ...viewer, admin: false };
  return [
    visibleProjects(viewer, dialect),
    level === 0 ? null : projectsAtLeast(own, level, dialect),
    filters.starred === true ? starredBy(viewer.user_id ?? 0) : null,
    filters.with_issues_enabled === true ? visibleFeature(viewer, 'issues_access_level', dialect) : null,
    filters.with_merge_requests_enabled === true
      ? visibleFeature(viewer, 'merge_requests_access_level', dialect)
      : null,
  ];
};

/** Returns the conditions. @throws Failure 400 for an unknown role, 403 for a filter of administrators */
export const projectConditions = (call: Call, filters: ProjectFilters): Condition[] => {
  const { visibility, topic = [], topic_id, repository_storage = '' } = filters;
  if (repository_storage !== '' && !call.admin) throw forbidden();
  const conditions: (Condition | null)[] = [
    ...isForCaller(call, filters),
    ...isArchived(filters),
    ...isWithin(filters),
    ...topic.map(hasTopic),
    topic_id === undefined ? null : hasTopicId(topic_id),
    matchesSearch(filters),
    visibility === undefined ? null : sql`projects.visibility = ${visibility}`,
    repository_storage === '' ? null : sql`projects.repository_storage = ${repository_storage}`,
    filters.imported === true || filters.marked_for_deletion_on !== undefined ? sql`1 = 0` : null,
  ];
  return conditions.filter((condition) => condition !== null);
};
