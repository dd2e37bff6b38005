/** Makes users members of the projects and groups to which their address was invited. */
import { sql } from 'kysely';
import { today } from '../../core/access/viewer.ts';
import type { Platform } from '../../core/platform.ts';
import type { Reader, Store, Tx } from '../../platform/db/open.ts';
import { invalid } from '../../platform/errors.ts';
import { isMembershipLocked } from '../groups/inherited_options.ts';
import { insertMember } from '../namespaces/add_member.ts';
import { lockNamespace } from '../namespaces/claim_path.ts';
import { isStillGranted } from './is_still_granted.ts';
import { type Invitation, isPending, readInvitationToken } from './links.ts';

/** Invitations that are accepted immediately. */
const maxAccepted = 100;

type Pending = Invitation & { namespace_id: number };

/** Over `invitations`: the address is a confirmed one of the user. */
const isOfUser = (userId: number) =>
  sql<boolean>`invitations.email in (select email from users where id = ${userId} and email_unchecked = 0
    union all select email from emails where user_id = ${userId} and confirmed_at is not null)`;

/** Lists the invitations of the user's confirmed addresses, in the order of their namespaces, which are locked. */
const listPending = async (db: Reader, userId: number, now: number): Promise<Pending[]> =>
  await db
    .selectFrom('users')
    .innerJoin('invitations', (join) => join.on(isOfUser(userId)))
    .leftJoin('projects', (join) =>
      join
        .onRef('projects.id', '=', 'invitations.source_id')
        .on('invitations.source_type', '=', 'Project')
        .on('projects.deleted_at', 'is', null),
    )
    .selectAll('invitations')
    .select(sql<number>`coalesce(projects.namespace_id, invitations.source_id)`.as('namespace_id'))
    .where('users.id', '=', userId)
    .where('users.state', '=', 'active')
    .where('users.ghost', '=', 0)
    .where(isPending(now))
    .where((is) =>
      is.or([is('invitations.source_type', '=', 'Namespace'), is('projects.id', 'is not', null)]),
    )
    .orderBy('namespace_id')
    .orderBy('invitations.id')
    .limit(maxAccepted)
    .execute();

/** Returns whether the source exists and accepts members; locks its ownership until the transaction ends. */
const lockSource = async (tx: Tx, { source_type, namespace_id }: Pending): Promise<boolean> => {
  if ((await lockNamespace(tx, namespace_id)) === undefined) return false;
  return source_type === 'Namespace' || !(await isMembershipLocked(tx.db, namespace_id));
};

/** Deletes a membership that has ended. @returns whether the user is a member now */
const isMember = async (tx: Tx, userId: number, { source_type, source_id }: Pending): Promise<boolean> => {
  const old = await tx.db
    .selectFrom('members')
    .select(['id', 'expires_at'])
    .where('source_type', '=', source_type)
    .where('source_id', '=', source_id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (old === undefined) return false;
  if (old.expires_at === null || old.expires_at > today(tx.now)) return true;
  await tx.db.deleteFrom('members').where('id', '=', old.id).execute();
  return false;
};

/** @returns whether the user is a member now */
const acceptOne = async (tx: Tx, user_id: number, invitation: Pending): Promise<boolean> => {
  const { id, source_type, source_id, access_level, expires_at, created_by_id } = invitation;
  const isOpen = (await lockSource(tx, invitation)) && (await isStillGranted(tx, invitation));
  const removed = await tx.db
    .deleteFrom('invitations')
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  const isOver = expires_at !== null && expires_at <= today(tx.now);
  if (await isMember(tx, user_id, invitation)) return true;
  if (!isOpen || isOver || removed === undefined) return false;
  const cause = { user: { id: created_by_id ?? user_id }, sudo_by_id: null };
  await insertMember(tx, cause, [source_type, source_id], { user_id, access_level, expires_at });
  return true;
};

/**
 * Accepts all invitations of a user's address. Does nothing as long as the address is not confirmed.
 * @returns the ids of the invitations that made the user a member
 */
export const acceptInvitations = async (
  { db, write }: Pick<Store, 'db' | 'write'>,
  userId: number,
  now: number,
): Promise<Set<number>> => {
  if ((await listPending(db, userId, now)).length === 0) return new Set();
  return await write(async (tx) => {
    const joined = new Set<number>();
    // Read again, for another sign-in may accept them meanwhile.
    for (const invitation of await listPending(tx.db, userId, tx.now))
      if (await acceptOne(tx, userId, invitation)) joined.add(invitation.id);
    return joined;
  });
};

const expiredInvitation = (): Error =>
  invalid({ token: ['was accepted or withdrawn, or has expired: ask for another invitation'] });

/**
 * Accepts an invitation by the link of its mail, which also confirms the address.
 * @throws Failure 400 for a link that does not work, is for another address, or whose sender may no longer invite
 */
export const acceptByLink = async (platform: Platform, userId: number, token: string): Promise<void> => {
  const { store, clock } = platform;
  const accepted = await store.write(async (tx) => {
    const invitation = await readInvitationToken(platform, tx, token);
    if (invitation === null) throw expiredInvitation();
    const confirmed = await tx.db
      .updateTable('users')
      .set({ email_unchecked: 0 })
      .where('id', '=', userId)
      .where('email', '=', invitation.email)
      .returning('id')
      .executeTakeFirst();
    if (confirmed === undefined) throw invalid({ token: ['is for another address'] });
    return invitation.id;
  });
  const joined = await acceptInvitations(store, userId, clock.now());
  if (!joined.has(accepted)) throw expiredInvitation();
};

/** Declines an invitation by the link of its mail. @throws Failure 400 for a link that does not work */
export const declineByLink = async (platform: Platform, token: string): Promise<void> =>
  await platform.store.write(async (tx) => {
    const invitation = await readInvitationToken(platform, tx, token);
    if (invitation === null) throw expiredInvitation();
    await tx.db.deleteFrom('invitations').where('id', '=', invitation.id).execute();
  });
