/** Projects and groups as owners of badges. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { findGroup, findGroupFor } from '../../identity/groups/find.ts';
import { selectAncestors } from '../../identity/namespaces/ancestors.ts';
import { type Project, findProject, findProjectFor } from '../projects/find.ts';
import type { Placeholders } from './json.ts';

export type BadgeOwner = {
  columns: { project_id: number | null; group_id: number | null };
  /** SQL condition over `badges`: the badges that it shows; a project also shows badges of its parent groups. */
  shown: RawBuilder<boolean>;
  /** SQL condition over `badges`: its own badges. */
  own: RawBuilder<boolean>;
  placeholders: Placeholders;
};

export type BadgeOwnerKind = {
  plural: 'projects' | 'groups';
  noun: string;
  find: (call: Call, id: number | string) => Promise<BadgeOwner>;
  /** @throws Failure 403 for callers who may not change its badges */
  findToChange: (call: Call, id: number | string) => Promise<BadgeOwner>;
};

const toPlaceholders = (project: Project, { baseUrl }: Call): Placeholders => {
  const namespace = project.full_path.slice(0, -project.path.length - 1);
  return {
    project_path: project.full_path,
    project_title: project.name,
    project_name: project.path,
    project_id: String(project.id),
    project_namespace: namespace,
    group_name: namespace.split('/')[0] ?? '',
    gitlab_server: new URL(baseUrl).host,
    ...(project.default_branch !== null && { default_branch: project.default_branch }),
  };
};

/** Returns a project as an owner of badges. */
export const projectBadgeOwner = (project: Project, call: Call): BadgeOwner => {
  const own = sql<boolean>`badges.project_id = ${project.id}`;
  return {
    columns: { project_id: project.id, group_id: null },
    // Not `own or ...`, for which PostgreSQL would read all badges.
    shown: sql<boolean>`badges.id in (
      select id from badges where project_id = ${project.id}
      union all select badges.id from badges join ${selectAncestors(project.namespace_id)} as above on badges.group_id = above.id)`,
    own,
    placeholders: toPlaceholders(project, call),
  };
};

/** Placeholders of a badge of a group are not replaced: its projects replace them by their own values. */
export const groupBadgeOwner = ({ id }: { id: number }): BadgeOwner => {
  const own = sql<boolean>`badges.group_id = ${id}`;
  return { columns: { project_id: null, group_id: id }, shown: own, own, placeholders: {} };
};

export const badgeOwnerKinds: BadgeOwnerKind[] = [
  {
    plural: 'projects',
    noun: 'project',
    find: async (call, id) => projectBadgeOwner(await findProject(call, id), call),
    findToChange: async (call, id) =>
      projectBadgeOwner(await findProjectFor(call, id, 'admin_project'), call),
  },
  {
    plural: 'groups',
    noun: 'group',
    find: async (call, id) => groupBadgeOwner(await findGroup(call, id)),
    findToChange: async (call, id) => groupBadgeOwner(await findGroupFor(call, id, 'admin_group')),
  },
];
