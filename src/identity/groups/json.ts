import type { Call } from '../../core/access/call.ts';
import type { Site } from '../../core/access/site.ts';
import { array, int, nullable, object, string, timestamp } from '../../platform/http/schema.ts';
import { loadFullNames } from '../namespaces/full_names.ts';
import { formatTime } from '../../platform/time.ts';
import { uploadedAvatarUrl } from '../avatars/avatar_urls.ts';
import { groupOptionFields, groupOptionsJson } from './fields.ts';
import type { Group } from './find.ts';
import { loadSharedGroups, sharedGroupShape } from './group_links.ts';
import { notFound } from '../../platform/errors.ts';

export const groupFields = {
  id: int,
  web_url: string,
  name: string,
  path: string,
  description: string,
  ...groupOptionFields,
  avatar_url: nullable(string),
  full_name: string,
  full_path: string,
  created_at: timestamp,
  parent_id: nullable(int),
  shared_with_groups: array(sharedGroupShape),
};

export const groupShape = object(groupFields);

type Related = { names: Map<number, string>; shared: Awaited<ReturnType<typeof loadSharedGroups>> };

const toJson = (group: Group, { names, shared }: Related, { baseUrl, settings }: Site) => ({
  id: group.id,
  web_url: `${baseUrl}/groups/${group.full_path}`,
  name: group.name,
  path: group.path,
  description: group.description,
  ...groupOptionsJson(group, settings),
  avatar_url: uploadedAvatarUrl({ baseUrl }, 'group', group),
  full_name: names.get(group.id) ?? group.name,
  full_path: group.full_path,
  created_at: formatTime(group.created_at),
  parent_id: group.parent_id,
  shared_with_groups: shared.get(group.id) ?? [],
});

export type GroupJson = ReturnType<typeof toJson>;

export const groupsJson = async (call: Call, groups: readonly Group[]) => {
  const [names, shared] = await Promise.all([
    loadFullNames(call.db, groups),
    loadSharedGroups(
      call,
      'Namespace',
      groups.map(({ id }) => id),
    ),
  ]);
  return groups.map((group) => toJson(group, { names, shared }, call));
};

export const groupJson = async (call: Call, group: Group) => {
  const [json] = await groupsJson(call, [group]);
  if (json === undefined) throw notFound('Group');
  return json;
};
