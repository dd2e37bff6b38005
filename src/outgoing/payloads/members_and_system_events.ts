/** Payloads of memberships, and of changes of users, groups, projects and keys, for hooks of the instance. Pure. */
import { formatTime } from '../../platform/time.ts';
import type { ProjectFacts, Snapshot } from '../changes/snapshots/snapshot.ts';
import { findUser, usersJson } from './shared_payload_parts.ts';
import type { Context, Payload } from './context.ts';

const roleNames: Record<number, string> = {
  10: 'Guest',
  20: 'Reporter',
  30: 'Developer',
  40: 'Maintainer',
  50: 'Owner',
};

const memberEvents: Record<string, [project: string, group: string]> = {
  added: ['user_add_to_team', 'user_add_to_group'],
  updated: ['user_update_for_team', 'user_update_for_group'],
  removed: ['user_remove_from_team', 'user_remove_from_group'],
  expired: ['user_remove_from_team', 'user_remove_from_group'],
};

/** Times of the record, or of the change. */
const formatTimes = ({ at }: Snapshot, record?: { created_at?: number; updated_at?: number }) => ({
  created_at: formatTime(record?.created_at ?? at),
  updated_at: formatTime(record?.updated_at ?? at),
});

/** The end of a membership as a time: payloads have no dates here. */
const formatExpiry = ({ expires_at }: { expires_at: string | null }): string | null =>
  expires_at === null ? null : `${expires_at}T00:00:00Z`;

export const memberPayload = (context: Context): Payload => {
  const { snapshot } = context;
  const { project, records, kind } = snapshot;
  const { member, group } = records;
  if (member === undefined) return {};
  const user = findUser(context, member.user_id);
  const role = roleNames[member.access_level] ?? String(member.access_level);
  const events = memberEvents[kind.split('.')[1] ?? ''] ?? ['', ''];
  const person = {
    user_id: member.user_id,
    user_name: user?.name ?? null,
    user_username: user?.username ?? null,
    user_email: user?.email ?? null,
  };
  const times = formatTimes(snapshot, { created_at: member.created_at });
  if (project !== null) {
    return {
      object_kind: 'member',
      event_name: events[0],
      ...times,
      project_name: project.name,
      project_path: project.path,
      project_path_with_namespace: project.full_path,
      project_id: project.id,
      project_visibility: project.visibility,
      ...person,
      access_level: role,
      project_access: role,
      expires_at: formatExpiry(member),
    };
  }
  return {
    object_kind: 'member',
    event_name: events[1],
    ...times,
    group_name: group?.name ?? null,
    group_path: group?.path ?? null,
    group_full_path: group?.full_path ?? null,
    group_id: group?.id ?? null,
    ...person,
    group_access: role,
    group_plan: null,
    expires_at: formatExpiry(member),
  };
};

const ownersJson = (context: Context) =>
  usersJson(context, context.snapshot.records.owners ?? []).map(({ name, email }) => ({ name, email }));

type Pairs = { [name: string]: [unknown, unknown] | undefined };

const projectEvents: Record<string, string> = {
  created: 'project_create',
  removed: 'project_destroy',
  transferred: 'project_transfer',
};

const projectEvent = (verb: string, data: Pairs): string =>
  projectEvents[verb] ?? (data['path'] === undefined ? 'project_update' : 'project_rename');

const projectPayload = (context: Context, project: ProjectFacts, verb: string): Payload => {
  const data = context.snapshot.data as Pairs;
  const event_name = projectEvent(verb, data);
  const owners = ownersJson(context);
  const parent = project.full_path.slice(0, project.full_path.lastIndexOf('/'));
  const former: Record<string, unknown> = {
    project_rename: `${parent}/${String(data['path']?.[0])}`,
    project_transfer: data['full_path']?.[0],
  };
  return {
    event_name,
    ...formatTimes(context.snapshot, project),
    name: project.name,
    path: project.path,
    path_with_namespace: project.full_path,
    project_id: project.id,
    owner_name: owners[0]?.name ?? project.namespace_name,
    owner_email: owners[0]?.email ?? null,
    owners,
    project_namespace_id: null,
    project_visibility: project.visibility,
    ...(event_name in former && { old_path_with_namespace: former[event_name] }),
  };
};

const userPayload = (context: Context, verb: string): Payload => {
  const { records, data } = context.snapshot;
  const { user } = records;
  const { username } = data as Pairs;
  const names: Record<string, string> = {
    created: 'user_create',
    deleted: 'user_destroy',
    login_failed: 'user_failed_login',
  };
  const isRenamed = Array.isArray(username);
  return {
    event_name: names[verb] ?? (isRenamed ? 'user_rename' : 'user_update'),
    ...formatTimes(context.snapshot, user),
    name: user?.name ?? null,
    email: user?.email ?? null,
    user_id: user?.id ?? null,
    username: user?.username ?? null,
    ...(verb === 'login_failed' && { state: user?.state ?? null }),
    ...(isRenamed && { old_username: username[0] }),
  };
};

const groupPayload = (context: Context, verb: string): Payload => {
  const { records, data } = context.snapshot;
  const { group } = records;
  const { path, full_path: place } = data as Pairs;
  const names: Record<string, string> = {
    created: 'group_create',
    removed: 'group_destroy',
    deleted: 'group_destroy',
  };
  const isRenamed = Array.isArray(path);
  // Receivers know no event for a move into another group. It changes the full path, as a rename does.
  const isMoved = verb === 'transferred' && Array.isArray(place);
  const full_path = group?.full_path ?? '';
  const parent = full_path.includes('/') ? full_path.slice(0, full_path.lastIndexOf('/') + 1) : '';
  return {
    event_name: names[verb] ?? (isRenamed || isMoved ? 'group_rename' : 'group_update'),
    ...formatTimes(context.snapshot, group),
    name: group?.name ?? null,
    path: group?.path ?? null,
    full_path: group?.full_path ?? null,
    group_id: group?.id ?? null,
    owner_name: null,
    owner_email: null,
    ...(isRenamed && { old_path: path[0], old_full_path: `${parent}${String(path[0])}` }),
    ...(isMoved && { old_path: group?.path ?? null, old_full_path: place[0] }),
  };
};

const keyPayload = ({ snapshot }: Context, verb: string): Payload => {
  const { key } = snapshot.records;
  return {
    event_name: verb === 'created' ? 'key_create' : 'key_destroy',
    ...formatTimes(snapshot),
    username: key?.username ?? null,
    key: key === undefined ? null : `${key.type} ${key.blob}`,
    id: key?.id ?? null,
  };
};

export const systemPayload = (context: Context): Payload => {
  const { project, kind } = context.snapshot;
  const [noun, verb = ''] = kind.split('.');
  if (noun === 'project') return project === null ? {} : projectPayload(context, project, verb);
  if (noun === 'group') return groupPayload(context, verb);
  return noun === 'key' ? keyPayload(context, verb) : userPayload(context, verb);
};
