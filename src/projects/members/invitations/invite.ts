/** Invites addresses and users to a project or group. Addresses without a confirmed account get a mail with a link. */
import { sql } from 'kysely';
import { recordAudit } from '../../../core/access/audit.ts';
import { type Call, requireActor, requireUser } from '../../../core/access/call.ts';
import { isMailOn, sendInvitationWork } from '../../../core/mail/enqueue_mails.ts';
import { isMembershipLocked } from '../../../identity/groups/inherited_options.ts';
import { isPending } from '../../../identity/invitations/links.ts';
import { getCountedNames, getRefusalTime } from '../../../identity/sessions/failure_counts.ts';
import { countAttempt, countFailure } from '../../../identity/sessions/sign_in_failures.ts';
import { findByConfirmedAddress } from '../../../identity/users/addresses/further_addresses.ts';
import { usersById } from '../../../identity/users/queries.ts';
import { normalizedEmail, userProblems } from '../../../identity/users/rules.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { requireRecordQuota } from '../../../platform/db/quota.ts';
import { Failure, forbidden } from '../../../platform/errors.ts';
import { enqueueAll } from '../../../platform/queue/enqueue.ts';
import { hourMilliseconds } from '../../../platform/time.ts';
import { addMember } from '../change_members.ts';
import type { Source, SourceKind } from '../member_source.ts';
import { type Role, requireGrantable } from '../rules.ts';
import { inSource } from './queries.ts';

/** Addresses and users of one call. */
export const maxInvited = 100;

const quota = { what: 'invitations', most: 1_000 };

const window = hourMilliseconds;
/** Addresses and users that one user invites within an hour. */
const ofUser = { window, max: 300, isQuota: true };
/** Invitations of one address within an hour, by all users together. */
const ofAddress = { window, max: 5, isQuota: true };

export type Invited = { emails: readonly string[]; user_ids: readonly number[] };

/** Why somebody could not be invited, by address or user name. */
export type Refusals = Record<string, string>;

type Parts = { call: Call; kind: SourceKind; source: Source; role: Role };

/** The text of a refusal of one user, as GitLab has it. */
const describeRefusal = (error: unknown): string => {
  if (!(error instanceof Failure)) throw error;
  if (error.kind === 'conflict') return 'User already exists in source';
  if (error.kind === 'not_found') return 'User not found';
  return error.kind === 'bad_request' ? 'User cannot be added' : 'User may not be added';
};

/** Adds users immediately. @param users ids by the name under which a refusal is reported */
const addUsers = async (
  { call, kind, source, role }: Parts,
  users: ReadonlyMap<string, number>,
): Promise<Refusals> => {
  const refusals: Refusals = {};
  for (const [name, user_id] of users) {
    try {
      await addMember(call, kind, source, { ...role, user_id });
    } catch (error) {
      refusals[name] = describeRefusal(error);
    }
  }
  return refusals;
};

const countedName = (email: string): string => getCountedNames('invited', email)[1];

/** Returns the addresses that were invited too often, by all users together. */
const findFlooded = async ({ db, now }: Tx, emails: readonly string[]): Promise<Set<string>> => {
  const rows = await db
    .selectFrom('sign_in_failures')
    .selectAll()
    .where('name', 'in', emails.map(countedName))
    .execute();
  const names = new Set(rows.filter((row) => getRefusalTime(row, now) > 0).map(({ name }) => name));
  return new Set(emails.filter((email) => names.has(countedName(email))));
};

const insertInvitations = async (tx: Tx, { call, source, role }: Parts, emails: readonly string[]) => {
  const { type: source_type, id: source_id } = source;
  const shared = { source_type, source_id, ...role, created_by_id: requireUser(call).id, created_at: tx.now };
  return await tx.db
    .insertInto('invitations')
    .values(emails.map((email) => ({ ...shared, email })))
    .onConflict((clash) => clash.columns(['source_type', 'source_id', 'email']).doNothing())
    .returning(['id', 'email'])
    .execute();
};

/** Counts and audits invitations, and enqueues their mails. @param made ids by address */
const followUp = async (
  tx: Tx,
  { call, source, role }: Parts,
  made: ReadonlyMap<string, number>,
): Promise<void> => {
  await countFailure(tx, [...made.keys()].map(countedName), ofAddress);
  for (const [email, id] of made)
    await recordAudit(tx, requireActor(call), call, {
      kind: 'invitation.created',
      target_type: source.type === 'Project' ? 'Project' : 'Group',
      target_id: source.id,
      details: { invitation_id: id, email, ...role },
    });
  if (!isMailOn(call.platform)) return;
  const pieces = [...made.values()].map((invitation_id) => ({ payload: { invitation_id } }));
  await enqueueAll(tx, sendInvitationWork, pieces);
};

const storeInvitations = async (parts: Parts, emails: readonly string[]): Promise<Refusals> => {
  const { call, kind, source } = parts;
  return await call.write(async (tx) => {
    await kind.lock(tx, source);
    const ofSource = tx.db
      .deleteFrom('invitations')
      .where('source_type', '=', source.type)
      .where('source_id', '=', source.id);
    await ofSource.where(sql<boolean>`not ${isPending(tx.now)}`).execute();
    await requireRecordQuota(tx.db.selectFrom('invitations').where(inSource(source, tx.now)), quota);
    const flooded = await findFlooded(tx, emails);
    const refusals: Refusals = Object.fromEntries(
      [...flooded].map((email) => [email, 'Invite email was invited too often']),
    );
    const allowed = emails.filter((email) => !flooded.has(email));
    const rows = allowed.length === 0 ? [] : await insertInvitations(tx, parts, allowed);
    const made = new Map(rows.map(({ email, id }) => [email, id]));
    for (const email of allowed)
      if (!made.has(email)) refusals[email] = 'Invite email has already been taken';
    if (made.size > 0) await followUp(tx, parts, made);
    return refusals;
  });
};

/** Limits how many one user invites, for each gets a mail in the name of this service. @throws Failure 429 */
const requireFewInvited = async (call: Call, times: number): Promise<void> =>
  await call.write(
    async (tx) => await countAttempt(tx, [`invite ${requireUser(call).id}`], { ...ofUser, times }),
  );

/**
 * Invites addresses, and immediately adds users and the accounts of confirmed addresses.
 * @returns the refused entries
 * @throws Failure 400 for an invalid role, 403 for callers who may not grant it, 429
 */
export const invite = async (parts: Parts, { emails, user_ids }: Invited): Promise<Refusals> => {
  const { call, kind, source, role } = parts;
  if (!source.mayAdmin) throw forbidden();
  if (source.type === 'Project' && (await isMembershipLocked(call.db, source.namespace_id)))
    throw forbidden();
  requireGrantable(kind, source, role, call.now);
  await requireFewInvited(call, emails.length + user_ids.length);
  const addresses = [...new Set(emails.map(normalizedEmail))];
  const isInvalid = (email: string): boolean => userProblems({ email })['email'] !== undefined;
  const wrong = addresses.filter(isInvalid);
  const valid = addresses.filter((email) => !isInvalid(email));
  const confirmed = await findByConfirmedAddress(call.db, valid);
  const users = await usersById(call.db, user_ids);
  const named = user_ids.map((id) => [users.get(id)?.username ?? String(id), id] as const);
  const unknown = valid.filter((email) => !confirmed.has(email));
  return {
    ...Object.fromEntries(wrong.map((email) => [email, 'Invite email is invalid'])),
    ...(await addUsers(parts, new Map([...confirmed, ...named]))),
    ...(unknown.length > 0 && (await storeInvitations(parts, unknown))),
  };
};
