/** What has members: projects and groups. All that differs between them is here. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../access/call.ts';
import { levels } from '../access/levels.ts';
import { may, mayInGroup } from '../access/may.ts';
import { namespaceLevel, projectLevel } from '../access/viewer.ts';
import type { Tx } from '../db/open.ts';
import type { SourceType } from '../db/schema.ts';
import { forbidden, notFound } from '../errors.ts';
import { findGroup } from '../groups/find.ts';
import { ancestorsOf } from '../namespaces/ancestors.ts';
import { lockNamespace } from '../namespaces/claim.ts';
import { findProject } from '../projects/find.ts';

/** A project or group that the caller found. */
export type Source = {
  type: SourceType;
  id: number;
  /** Of a project: its namespace; of a group: itself. */
  namespace_id: number;
  /** The caller's role in it. */
  level: number;
  mayRead: boolean;
  mayAdmin: boolean;
};

export type SourceKind = {
  /** As in the URL. */
  plural: 'projects' | 'groups';
  noun: 'project' | 'group';
  /** Roles that a member of it can have. */
  roles: readonly number[];
  /** @throws Failure 404 */
  find: (call: Call, id: number | string) => Promise<Source>;
  /** Keeps the source, and who owns it, as it is until the transaction ends. */
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
      level: projectLevel(call.viewer, project),
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
      level: namespaceLevel(call.viewer, group.id),
      mayRead: mayInGroup(call.viewer, 'read_group_member', group),
      mayAdmin: mayInGroup(call.viewer, 'admin_group_member', group),
    };
  },
  lock: async (tx, { namespace_id }) => await lockOrRefuse(tx, namespace_id, 'Group'),
};

/** The source, if the caller sees it (else 404) and may see who belongs to it (else 403). */
export const findReadable = async (kind: SourceKind, call: Call, id: number | string): Promise<Source> => {
  const source = await kind.find(call, id);
  if (!source.mayRead) throw forbidden();
  return source;
};

/** Over `members`: those of the source itself. */
export const directMembers = ({ type, id }: Source): RawBuilder<boolean> =>
  sql<boolean>`(members.source_type = ${type} and members.source_id = ${id})`;

/** Over `members`: those of the source and of every group above it. */
export const allMembers = (source: Source): RawBuilder<boolean> =>
  sql<boolean>`(${directMembers(source)} or (members.source_type = 'Namespace'
    and members.source_id in ${ancestorsOf(source.namespace_id)}))`;
