/** Signed links of mails by which users unsubscribe without signing in. */
import { type Cause, recordEvent } from '../../core/events/record_event.ts';
import { isSignedLink, readLinkText, signLink } from '../../core/access/credentials/signed_links.ts';
import type { Platform } from '../../core/platform.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { TargetType } from '../../platform/db/schema/column_types.ts';
import { notFound } from '../../platform/errors.ts';
import { setSubscribed } from '../../planning/subscriptions/subscriptions.ts';
import { storeUserSetting } from '../../projects/notification_settings/update.ts';

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

const leaveProject = async (tx: Tx, cause: Cause, project_id: number): Promise<void> => {
  const project = await tx.db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', project_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (project !== undefined) await storeUserSetting(tx, cause, { project_id, group_id: null }, { level });
};

const leaveRecord = async (tx: Tx, cause: Cause, type: TargetType, id: number): Promise<void> => {
  const record = await tx.db
    .selectFrom(type === 'Issue' ? 'issues' : 'merge_requests')
    .select('project_id')
    .where('id', '=', id)
    .executeTakeFirst();
  if (record === undefined || !(await setSubscribed(tx, cause.user.id, { type, id }, false))) return;
  await recordEvent(tx, cause, {
    kind: type === 'Issue' ? 'issue.unsubscribed' : 'merge_request.unsubscribed',
    project_id: record.project_id,
    target_type: type,
    target_id: id,
  });
};

/** Unsubscribes the user of a link. Again, or for a record or project that is gone, it does nothing. */
export const unsubscribeByLink = async (platform: Platform, token: string): Promise<Unsubscription> => {
  const link = readUnsubscription(platform, token);
  const { user_id, target_type, target_id } = link;
  await platform.store.write(async (tx) => {
    const user = await tx.db.selectFrom('users').select('id').where('id', '=', user_id).executeTakeFirst();
    if (user === undefined) return;
    const cause = { user: { id: user_id }, sudo_by_id: null };
    if (target_type === 'General')
      await storeUserSetting(tx, cause, { project_id: null, group_id: null }, { level });
    else if (target_type === 'Project') await leaveProject(tx, cause, target_id);
    else await leaveRecord(tx, cause, target_type, target_id);
  });
  return link;
};
