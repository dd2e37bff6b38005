/** Sends the mails of invitations. The invited have no account, so that these are not among the mails of users. */
import { sendInvitationWork, isMailOn } from '../../core/mail/enqueue_mails.ts';
import type { Platform } from '../../core/platform.ts';
import { isStillGranted } from '../../identity/invitations/is_still_granted.ts';
import {
  type Invitation,
  type InvitationPlace,
  loadInvitation,
  loadPlace,
  makeInvitationToken,
} from '../../identity/invitations/links.ts';
import { getErrorMessage } from '../../platform/errors.ts';
import type { WorkHandler } from '../../platform/queue/enqueue.ts';
import { toMessageId, writeHtml, writeText } from './compose.ts';
import { type Message, isRefused, sendMessage } from './smtp.ts';

const composeInvitation = (
  platform: Platform,
  invitation: Invitation,
  { kind, full_path, inviter }: InvitationPlace,
): Message => {
  const baseUrl = platform.baseUrl();
  const url = `${baseUrl}/users/invitation?token=${makeInvitationToken(platform, invitation)}`;
  const headline = `${inviter ?? 'Somebody'} invited you to the ${kind} ${full_path}.`;
  const body =
    'The link works for 90 days, once, for an account with this address. If you do not know the sender, ignore this mail.';
  const footer = [
    { text: 'View the invitation', url },
    { text: baseUrl, url: baseUrl },
  ];
  return {
    to: invitation.email,
    from_name: null,
    subject: `Invitation to ${full_path}`,
    text: writeText(headline, body, footer),
    html: writeHtml(headline, body, footer),
    message_id: toMessageId(baseUrl, `invitation-${invitation.id}-${invitation.created_at}`),
    thread_id: null,
    headers: {},
  };
};

const record = async (
  { store }: Platform,
  id: number,
  changes: { mailed_at?: number; mail_error: string | null },
): Promise<void> =>
  await store.write(
    async ({ db }) => void (await db.updateTable('invitations').set(changes).where('id', '=', id).execute()),
  );

/** Sends the mail of a pending invitation. @throws the error of the server, so that the work is tried again */
const sendInvitation = async (platform: Platform, id: number): Promise<void> => {
  const { store, clock, log } = platform;
  const at = { db: store.db, now: clock.now() };
  const invitation = await loadInvitation(at, id);
  if (invitation === null || invitation.mailed_at !== null || !isMailOn(platform)) return;
  if (!(await isStillGranted(at, invitation))) return;
  const place = await loadPlace(store.db, invitation);
  if (place === null) return;
  try {
    await sendMessage(platform, composeInvitation(platform, invitation, place));
  } catch (error) {
    await record(platform, id, { mail_error: getErrorMessage(error).slice(0, 300) });
    if (!isRefused(error)) throw error;
    log.warn({ invitation: id }, 'the mail of an invitation was refused');
    return;
  }
  await record(platform, id, { mailed_at: clock.now(), mail_error: null });
};

export const invitationMailHandlers = (platform: Platform): { [name: string]: WorkHandler } => ({
  [sendInvitationWork]: async ({ invitation_id }) => await sendInvitation(platform, Number(invitation_id)),
});
