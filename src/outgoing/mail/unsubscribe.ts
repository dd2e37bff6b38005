/** Unsubscribes users by the signed link of a mail, which works without signing in. */
import { recordEvent } from '../../core/events/record_event.ts';
import { isSignedLink, readLinkText } from '../../core/access/credentials/signed_links.ts';
import type { Platform } from '../../core/platform.ts';
import type { TargetType } from '../../platform/db/schema/column_types.ts';
import { notFound } from '../../platform/errors.ts';
import { setSubscribed } from '../../planning/subscriptions/subscriptions.ts';

export type Unsubscription = { user_id: number; target_type: TargetType; target_id: number };

/** Reads a link. @throws Failure 404 for one that this service did not sign */
export const readUnsubscription = ({ secrets }: Platform, token: string): Unsubscription => {
  const [, user, type, id] = /^(\d{1,15})-(Issue|MergeRequest)-(\d{1,15})$/.exec(readLinkText(token)) ?? [];
  if (type === undefined || !isSignedLink(secrets.session_key, 'unsubscribe', token)) throw notFound();
  return { user_id: Number(user), target_type: type as TargetType, target_id: Number(id) };
};

/** Unsubscribes the user of a link from its record. Again, or for a record that is gone, it does nothing. */
export const unsubscribeByLink = async (platform: Platform, token: string): Promise<Unsubscription> => {
  const link = readUnsubscription(platform, token);
  const { user_id, target_type, target_id } = link;
  await platform.store.write(async (tx) => {
    const [user, record] = await Promise.all([
      tx.db.selectFrom('users').select('id').where('id', '=', user_id).executeTakeFirst(),
      tx.db
        .selectFrom(target_type === 'Issue' ? 'issues' : 'merge_requests')
        .select('project_id')
        .where('id', '=', target_id)
        .executeTakeFirst(),
    ]);
    if (user === undefined || record === undefined) return;
    if (!(await setSubscribed(tx, user_id, { type: target_type, id: target_id }, false))) return;
    await recordEvent(
      tx,
      { user: { id: user_id }, sudo_by_id: null },
      {
        kind: target_type === 'Issue' ? 'issue.unsubscribed' : 'merge_request.unsubscribed',
        project_id: record.project_id,
        target_type,
        target_id,
      },
    );
  });
  return link;
};
