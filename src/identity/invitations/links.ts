/** Links of mails that invite an address to a project or group. They are signed; the service stores no token. */
import { type RawBuilder, type Selectable, sql } from 'kysely';
import { isSignedLink, readLinkText, signLink } from '../../core/access/credentials/signed_links.ts';
import type { Platform } from '../../core/platform.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { InvitationsTable } from '../../platform/db/schema/identity.ts';
import { dayMilliseconds } from '../../platform/time.ts';

export type Invitation = Selectable<InvitationsTable>;

/** Milliseconds for which an invitation can be accepted. */
const lifetime = 90 * dayMilliseconds;

/** Over `invitations`: it has not expired. */
export const isPending = (now: number): RawBuilder<boolean> =>
  sql<boolean>`invitations.created_at > ${now - lifetime}`;

/** A later invitation of the same address has another link. */
const boundOf = ({ email, created_at }: Invitation): string => `${email} ${created_at}`;

export const makeInvitationToken = ({ secrets }: Pick<Platform, 'secrets'>, invitation: Invitation): string =>
  signLink(secrets.session_key, 'invitation', String(invitation.id), boundOf(invitation));

export const loadInvitation = async (
  { db, now }: { db: Reader; now: number },
  id: number,
): Promise<Invitation | null> =>
  (await db
    .selectFrom('invitations')
    .selectAll()
    .where('id', '=', id)
    .where(isPending(now))
    .executeTakeFirst()) ?? null;

/** Returns the invitation of a token; null if it was accepted or withdrawn, or has expired. */
export const readInvitationToken = async (
  { secrets }: Pick<Platform, 'secrets'>,
  at: { db: Reader; now: number },
  token: string,
): Promise<Invitation | null> => {
  const id = readLinkText(token);
  if (!/^\d{1,15}$/.test(id)) return null;
  const invitation = await loadInvitation(at, Number(id));
  if (invitation === null) return null;
  return isSignedLink(secrets.session_key, 'invitation', token, boundOf(invitation)) ? invitation : null;
};

/** Target and sender of an invitation, limited to what the invited person may know. */
export type InvitationPlace = { kind: 'project' | 'group'; full_path: string; inviter: string | null };

/** Loads the project or group; null if it is gone. */
export const loadPlace = async (db: Reader, invitation: Invitation): Promise<InvitationPlace | null> => {
  const isProject = invitation.source_type === 'Project';
  const place = await db
    .selectFrom(isProject ? 'projects' : 'namespaces')
    .select('full_path')
    .where('id', '=', invitation.source_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (place === undefined) return null;
  const inviter = await db
    .selectFrom('users')
    .select('name')
    .where('id', '=', invitation.created_by_id ?? 0)
    .executeTakeFirst();
  return {
    kind: isProject ? 'project' : 'group',
    full_path: place.full_path,
    inviter: inviter?.name ?? null,
  };
};
