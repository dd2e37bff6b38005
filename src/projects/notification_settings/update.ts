import { isDeepStrictEqual } from 'node:util';
import { type Call, requireActor } from '../../core/access/call.ts';
import { type Cause, recordEvent } from '../../core/events/record_event.ts';
import { lockUser } from '../../identity/users/queries.ts';
import type { Tx } from '../../platform/db/open.ts';
import { type SettingInput, readEvents } from './levels.ts';
import { type NotificationSetting, type Source, defaultSetting, findStoredSetting } from './queries.ts';

const storeSetting = async (
  tx: Tx,
  owner: Source & { user_id: number },
  id: number | null,
  { level, events }: NotificationSetting,
): Promise<void> => {
  const columns = { level, events: JSON.stringify(events), updated_at: tx.now };
  if (id === null) {
    const row = { ...owner, ...columns, created_at: tx.now };
    await tx.db.insertInto('notification_settings').values(row).execute();
  } else {
    await tx.db.updateTable('notification_settings').set(columns).where('id', '=', id).execute();
  }
};

/**
 * Changes the notification setting of a user for a project or group, or their general one.
 * @param input the level and events to change; others are kept
 */
export const storeUserSetting = async (
  tx: Tx,
  cause: Cause,
  source: Source,
  input: SettingInput,
): Promise<NotificationSetting> => {
  const user_id = cause.user.id;
  // Serializes concurrent changes, which would otherwise insert two settings or lose events.
  await lockUser(tx, user_id);
  const stored = await findStoredSetting(tx.db, user_id, source);
  const { level, events } = stored ?? defaultSetting(source);
  const changed = { level: input.level ?? level, events: { ...events, ...readEvents(input) } };
  if (isDeepStrictEqual(changed, { level, events })) return changed;
  await storeSetting(tx, { user_id, ...source }, stored?.id ?? null, changed);
  await recordEvent(tx, cause, {
    kind: 'notification_settings.updated',
    project_id: source.project_id,
    target_type: 'User',
    target_id: user_id,
    data: { group_id: source.group_id, level: [level, changed.level] },
  });
  return changed;
};

/** Changes the caller's notification setting for a project or group that they see, or their own. */
export const updateSetting = async (
  call: Call,
  source: Source,
  input: SettingInput,
): Promise<NotificationSetting> =>
  await call.write(async (tx) => await storeUserSetting(tx, requireActor(call), source, input));
