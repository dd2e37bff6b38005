import type { Selectable } from 'kysely';
import type { NamespacesTable } from '../db/schema.ts';
import { int, nullable, object, optional, string } from '../http/schema.ts';

const fields = {
  id: int,
  name: string,
  path: string,
  kind: string,
  full_path: string,
  parent_id: nullable(int),
};

/** A namespace as embedded in a project. */
export const basicNamespaceShape = object(fields);

export const namespaceShape = object({ ...fields, members_count_with_descendants: optional(int) });

type Row = Pick<Selectable<NamespacesTable>, 'id' | 'name' | 'path' | 'kind' | 'full_path' | 'parent_id'>;

/** @param members users of the group and of all below it; told to its owners only */
export const namespaceJson = (row: Row, members?: number) => ({
  id: row.id,
  name: row.name,
  path: row.path,
  kind: row.kind,
  full_path: row.full_path,
  parent_id: row.parent_id,
  ...(members !== undefined && { members_count_with_descendants: members }),
});
