/** Signed links of mails by which users unsubscribe without signing in. */
import { type Cause, recordEvent } from '../../core/events/record_event.ts';
import { isSignedLink, readLinkText, signLink } from '../../core/access/credentials/signed_links.ts';
import type { Platform } from '../../core/platform.ts';
import { lockUser } from '../../identity/users/queries.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { NotificationLevel, TargetType } from '../../platform/db/schema/column_types.ts';
import { notFound } from '../../platform/errors.ts';
import { setSubscribed } from '../../planning/subscriptions/subscriptions.ts';
import { loadSetting } from '../../projects/notification_settings/queries.ts';
import { storeUserSetting } from '../../projects/notification_settings/update.ts';
import { loadGroups, loadSettings } from './applicable_settings.ts';
import { resolveSetting } from './levels.ts';

/** What a link ends: mail about a record, mail of a project, or mail in general. */
type Scope = TargetType | 'Project' | 'General';

export type Unsubscription = { user_id: number; target_type: Scope; target_id: number };

/** Returns the address of a link. */
export const makeUnsubscribeLink = (
  { secrets, baseUrl }: Platform,
  { user_id, target_type, target_id }: Unsubscription,
): string =>
  `${baseUrl()}/-/unsubscribe/${signLink(secrets.session_key, 'unsubscribe', `${user_id}-${target_type}-${target_id}`)}`;

/** Reads a link. @throws Failure 404 for one that this service did not sign */
export const readUnsubscription = ({ secrets }: Platform, token: string): Unsubscription => {
  const pattern = /^(\d{1,15})-(Issue|MergeRequest|Project|General)-(\d{1,15})$/;
  const [, user, type, id] = pattern.exec(readLinkText(token)) ?? [];
  if (type === undefined || !isSignedLink(secrets.session_key, 'unsubscribe', token)) throw notFound();
  return { user_id: Number(user), target_type: type as Scope, target_id: Number(id) };
};

/** Level at which mentions remain, as for a record that the user unsubscribed from. */
const level = 'mention';

/** Levels that a link must not change: the user gets no more than mentions already. */
const isLow = (one: NotificationLevel): boolean => one === 'mention' || one === 'disabled';

/** What a link changed: something, and how many levels for projects and groups. */
export type Unsubscribed = { isChanged: boolean; lowered: number };

const unchanged: Unsubscribed = { isChanged: false, lowered: 0 };

const leaveProject = async (tx: Tx, cause: Cause, project_id: number): Promise<Unsubscribed> => {
  const project = await tx.db
    .selectFrom('projects')
    .select(['id', 'namespace_id'])
    .where('id', '=', project_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (project === undefined) return unchanged;
  await lockUser(tx, cause.user.id);
  const groupIds = (await loadGroups(tx.db, project.namespace_id)).map(({ id }) => id);
  const settings = await loadSettings(tx, [cause.user.id], { project, groupIds });
  if (isLow(resolveSetting(settings.get(cause.user.id) ?? [], groupIds).level)) return unchanged;
  await storeUserSetting(tx, cause, { project_id, group_id: null }, { level });
  return { isChanged: true, lowered: 0 };
};

/** Lowers the user's levels for projects and groups, which outrank their general level. Returns how many. */
const lowerLevels = async (tx: Tx, cause: Cause): Promise<number> => {
  const { numUpdatedRows } = await tx.db
    .updateTable('notification_settings')
    .set({ level, updated_at: tx.now })
    .where('user_id', '=', cause.user.id)
    .where((is) => is.or([is('project_id', 'is not', null), is('group_id', 'is not', null)]))
    .where('level', 'in', ['watch', 'participating', 'custom'])
    .executeTakeFirstOrThrow();
  const lowered = Number(numUpdatedRows);
  if (lowered > 0)
    await recordEvent(tx, cause, {
      kind: 'notification_settings.updated',
      project_id: null,
      target_type: 'User',
      target_id: cause.user.id,
      data: { lowered, level },
    });
  return lowered;
};

const leaveAll = async (tx: Tx, cause: Cause): Promise<Unsubscribed> => {
  const general = { project_id: null, group_id: null };
  await lockUser(tx, cause.user.id);
  const isGeneralLow = isLow((await loadSetting(tx.db, cause.user.id, general)).level);
  if (!isGeneralLow) await storeUserSetting(tx, cause, general, { level });
  const lowered = await lowerLevels(tx, cause);
  return { isChanged: !isGeneralLow || lowered > 0, lowered };
};

const leaveRecord = async (tx: Tx, cause: Cause, type: TargetType, id: number): Promise<Unsubscribed> => {
  const record = await tx.db
    .selectFrom(type === 'Issue' ? 'issues' : 'merge_requests')
    .select('project_id')
    .where('id', '=', id)
    .executeTakeFirst();
  if (record === undefined || !(await setSubscribed(tx, cause.user.id, { type, id }, false)))
    return unchanged;
  await recordEvent(tx, cause, {
    kind: type === 'Issue' ? 'issue.unsubscribed' : 'merge_request.unsubscribed',
    project_id: record.project_id,
    target_type: type,
    target_id: id,
  });
  return { isChanged: true, lowered: 0 };
};

/**
 * Unsubscribes the user of a link. It never adds mail: again, where the user's level is as low already, or for a record
 * or project that is gone, it does nothing.
 */
export const unsubscribeByLink = async (
  platform: Platform,
  token: string,
): Promise<Unsubscription & Unsubscribed> => {
  const link = readUnsubscription(platform, token);
  const { user_id, target_type, target_id } = link;
  const done = await platform.store.write(async (tx) => {
    const user = await tx.db.selectFrom('users').select('id').where('id', '=', user_id).executeTakeFirst();
    if (user === undefined) return unchanged;
    const cause = { user: { id: user_id }, sudo_by_id: null };
    if (target_type === 'General') return await leaveAll(tx, cause);
    if (target_type === 'Project') return await leaveProject(tx, cause, target_id);
    return await leaveRecord(tx, cause, target_type, target_id);
  });
  return { ...link, ...done };
};
