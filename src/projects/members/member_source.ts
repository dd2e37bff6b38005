/** Projects and groups as sources of members, with everything that differs between them. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { levels } from '../../core/access/levels.ts';
import { may, mayInGroup } from '../../core/access/may.ts';
import { getNamespaceLevel, getProjectLevel } from '../../core/access/viewer.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { SourceType } from '../../platform/db/schema/column_types.ts';
import { forbidden, notFound } from '../../platform/errors.ts';
import { findGroup } from '../../identity/groups/find.ts';
import { selectAncestors } from '../../identity/namespaces/ancestors.ts';
import { lockNamespace } from '../../identity/namespaces/claim_path.ts';
import { findProject } from '../projects/find.ts';

/** A project or group that the caller sees. */
export type Source = {
  type: SourceType;
  id: number;
  /** For a project: its namespace; for a group: itself. */
  namespace_id: number;
  /** The caller's role in it. */
  level: number;
  mayRead: boolean;
  mayAdmin: boolean;
};

export type SourceKind = {
  /** Segment of the URL. */
  plural: 'projects' | 'groups';
  noun: 'project' | 'group';
  /** Roles that its members can have. */
  roles: readonly number[];
  /** @throws Failure 404 */
  find: (call: Call, id: number | string) => Promise<Source>;
  /** Locks the source and its ownership until the transaction ends. */
  lock: (tx: Tx, source: Source) => Promise<void>;
};

const roles = [levels.guest, levels.reporter, levels.developer, levels.master];

const lockOrRefuse = async (tx: Tx, namespaceId: number, noun: string): Promise<void> => {
  if ((await lockNamespace(tx, namespaceId)) === undefined) throw notFound(noun);
};

export const projectSource: SourceKind = {
  plural: 'projects',
  noun: 'project',
  roles,
  find: async (call, id) => {
    const project = await findProject(call, id);
    return {
      type: 'Project',
      id: project.id,
      namespace_id: project.namespace_id,
      level: getProjectLevel(call.viewer, project),
      mayRead: may(call.viewer, 'read_member', project),
      mayAdmin: may(call.viewer, 'admin_member', project),
    };
  },
  lock: async (tx, { namespace_id }) => await lockOrRefuse(tx, namespace_id, 'Project'),
};

export const groupSource: SourceKind = {
  plural: 'groups',
  noun: 'group',
  roles: [...roles, levels.owner],
  find: async (call, id) => {
    const group = await findGroup(call, id);
    return {
      type: 'Namespace',
      id: group.id,
      namespace_id: group.id,
      level: getNamespaceLevel(call.viewer, group.id),
      mayRead: mayInGroup(call.viewer, 'read_group_member', group),
      mayAdmin: mayInGroup(call.viewer, 'admin_group_member', group),
    };
  },
  lock: async (tx, { namespace_id }) => await lockOrRefuse(tx, namespace_id, 'Group'),
};

/** Loads a source. @throws Failure 404 for a hidden one, 403 if the caller may not see its members */
export const findReadable = async (kind: SourceKind, call: Call, id: number | string): Promise<Source> => {
  const source = await kind.find(call, id);
  if (!source.mayRead) throw forbidden();
  return source;
};

/** Over `members`: direct members of the source. */
export const directMembers = ({ type, id }: Source): RawBuilder<boolean> =>
  sql<boolean>`(members.source_type = ${type} and members.source_id = ${id})`;

/** Over `members`: members of the source and of every group above it. */
export const allMembers = (source: Source): RawBuilder<boolean> =>
  sql<boolean>`(${directMembers(source)} or (members.source_type = 'Namespace'
    and members.source_id in ${selectAncestors(source.namespace_id)}))`;
