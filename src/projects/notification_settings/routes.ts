import { type Call, requireUser } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { findGroup } from '../../identity/groups/find.ts';
import { loadUser } from '../../identity/users/queries.ts';
import { normalizedEmail } from '../../identity/users/rules.ts';
import { invalid } from '../../platform/errors.ts';
import { clearable, idOrPath, object, optional, string, text } from '../../platform/http/schema.ts';
import { findProject } from '../projects/find.ts';
import { completeEvents, ownSettingParams, settingFields, settingParams } from './levels.ts';
import { type NotificationSetting, type Source, loadSetting } from './queries.ts';
import { updateSetting } from './update.ts';

const area = 'notification_settings';

const settingJson = ({ level, events }: NotificationSetting) => ({
  level,
  ...(level === 'custom' && { events: completeEvents(events) }),
});

/* ---- the caller's own level ---- */

const own: Source = { project_id: null, group_id: null };
const ownShape = object({ ...settingFields, notification_email: string });

/** Checks the address for notifications: users have one address. @throws Failure 400 for another one */
const requireOwnAddress = (address: string | null | undefined, email: string): void => {
  const isOwn = (address ?? '') === '' || normalizedEmail(address ?? '') === normalizedEmail(email);
  if (!isOwn) throw invalid({ notification_email: ['is not an email you own'] });
};

const showOwn = endpoint({
  method: 'GET',
  path: '/notification_settings',
  summary: 'Get your notification level',
  area,
  audience: 'user',
  params: object({}),
  reply: ownShape,
  handle: async (call) => {
    const { id, email } = await loadUser(call.db, requireUser(call).id);
    return { ...settingJson(await loadSetting(call.db, id, own)), notification_email: email };
  },
});

const updateOwn = endpoint({
  method: 'PUT',
  path: '/notification_settings',
  summary: 'Update your notification level',
  area,
  audience: 'user',
  params: object({
    ...ownSettingParams,
    notification_email: optional(clearable(text({ description: "only the user's own address" }))),
  }),
  reply: ownShape,
  handle: async (call, { notification_email, ...params }) => {
    const { email } = await loadUser(call.db, requireUser(call).id);
    requireOwnAddress(notification_email, email);
    return { ...settingJson(await updateSetting(call, own, params)), notification_email: email };
  },
});

/* ---- levels for projects and groups ---- */

type SourceKind = {
  noun: 'project' | 'group';
  find: (call: Call, id: number | string) => Promise<Source>;
};

const kinds: readonly SourceKind[] = [
  {
    noun: 'group',
    find: async (call, id) => ({ project_id: null, group_id: (await findGroup(call, id)).id }),
  },
  {
    noun: 'project',
    find: async (call, id) => ({ project_id: (await findProject(call, id)).id, group_id: null }),
  },
];

const declareSettings = ({ noun, find }: SourceKind) => {
  const path = `/${noun}s/:id/notification_settings`;
  const id = idOrPath(`id or full path of the ${noun}`);
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `Get your notification level for a ${noun}`,
      area,
      audience: 'user',
      params: object({ id }),
      reply: object(settingFields),
      handle: async (call, params) => {
        const source = await find(call, params.id);
        return settingJson(await loadSetting(call.db, requireUser(call).id, source));
      },
    }),
    endpoint({
      method: 'PUT',
      path,
      summary: `Update your notification level for a ${noun}`,
      area,
      audience: 'user',
      params: object({ id, ...settingParams }),
      reply: object(settingFields),
      handle: async (call, { id: sourceId, ...params }) =>
        settingJson(await updateSetting(call, await find(call, sourceId), params)),
    }),
  ];
};

export const notificationSettingRoutes = [showOwn, updateOwn, ...kinds.flatMap(declareSettings)];
