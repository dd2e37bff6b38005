import type { Call } from '../access/call.ts';
import { bool, int, nullable, object, string, timestamp } from '../http/schema.ts';
import { fullNames } from '../namespaces/names.ts';
import { formatTime } from '../time.ts';
import type { Group } from './find.ts';

export const groupFields = {
  id: int,
  web_url: string,
  name: string,
  path: string,
  description: string,
  visibility: string,
  lfs_enabled: bool,
  avatar_url: nullable(string),
  request_access_enabled: bool,
  full_name: string,
  full_path: string,
  created_at: timestamp,
  parent_id: nullable(int),
};

export const groupShape = object(groupFields);

const toJson = (group: Group, names: Map<number, string>, baseUrl: string) => ({
  id: group.id,
  web_url: `${baseUrl}/groups/${group.full_path}`,
  name: group.name,
  path: group.path,
  description: group.description,
  visibility: group.visibility,
  lfs_enabled: group.lfs_enabled === 1,
  avatar_url: null,
  request_access_enabled: group.request_access_enabled === 1,
  full_name: names.get(group.id) ?? group.name,
  full_path: group.full_path,
  created_at: formatTime(group.created_at),
  parent_id: group.parent_id,
});

export const groupsJson = async (call: Call, groups: readonly Group[]) => {
  const names = await fullNames(call.db, groups);
  return groups.map((group) => toJson(group, names, call.baseUrl));
};

export const groupJson = async (call: Call, group: Group) =>
  toJson(group, await fullNames(call.db, [group]), call.baseUrl);
