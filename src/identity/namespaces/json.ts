import type { Selectable } from 'kysely';
import type { Site } from '../../core/access/site.ts';
import type { NamespacesTable } from '../../platform/db/schema/identity.ts';
import { int, nullable, object, optional, string } from '../../platform/http/schema.ts';
import { uploadedAvatarUrl, userAvatarUrl } from '../avatars/avatar_urls.ts';

const fields = {
  id: int,
  name: string,
  path: string,
  kind: string,
  full_path: string,
  parent_id: nullable(int),
  avatar_url: nullable(string),
  web_url: string,
};

/** A namespace as embedded in a project. */
export const basicNamespaceShape = object(fields);

export const namespaceShape = object({ ...fields, members_count_with_descendants: optional(int) });

type Row = Pick<Selectable<NamespacesTable>, 'id' | 'name' | 'path' | 'kind' | 'full_path' | 'parent_id'> & {
  /** Only for a group. */
  avatar: string | null;
  /** null: a group. */
  owner_id: number | null;
  owner_email: string | null;
  owner_avatar: string | null;
};

const avatarUrl = ({ id, avatar, owner_id, owner_email, owner_avatar }: Row, site: Site): string | null =>
  owner_id === null || owner_email === null
    ? uploadedAvatarUrl(site, 'group', { id, avatar })
    : userAvatarUrl(site, { id: owner_id, email: owner_email, avatar: owner_avatar });

/** @param members number of users in the group and all groups below it; only for owners */
export const namespaceJson = (row: Row, site: Site, members?: number) => ({
  id: row.id,
  name: row.name,
  path: row.path,
  kind: row.kind,
  full_path: row.full_path,
  parent_id: row.parent_id,
  avatar_url: avatarUrl(row, site),
  web_url: `${site.baseUrl}/${row.kind === 'group' ? 'groups/' : ''}${row.full_path}`,
  ...(members !== undefined && { members_count_with_descendants: members }),
});
