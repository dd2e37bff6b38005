import type { Call } from '../../core/access/call.ts';
import type { Site } from '../../core/access/site.ts';
import { anything, array, int, nullable, object, string, timestamp } from '../../platform/http/schema.ts';
import { loadFullNames } from '../namespaces/full_names.ts';
import { formatTime } from '../../platform/time.ts';
import { uploadedAvatarUrl } from '../avatars/avatar_urls.ts';
import { groupOptionFields, groupOptionsJson } from './fields.ts';
import type { Group } from './find.ts';

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
  shared_with_groups: array(anything),
};

export const groupShape = object(groupFields);

const toJson = (group: Group, names: Map<number, string>, { baseUrl, settings }: Site) => ({
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
  shared_with_groups: [],
});

export type GroupJson = ReturnType<typeof toJson>;

export const groupsJson = async (call: Call, groups: readonly Group[]) => {
  const names = await loadFullNames(call.db, groups);
  return groups.map((group) => toJson(group, names, call));
};

export const groupJson = async (call: Call, group: Group) =>
  toJson(group, await loadFullNames(call.db, [group]), call);
