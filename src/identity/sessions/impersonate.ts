/** Sessions in which an administrator acts as another user. */
import { type Call, requireActor } from '../../core/access/call.ts';
import { generateSecret } from '../../core/access/credentials/session_token.ts';
import { hashToken } from '../../core/access/credentials/token_text.ts';
import { insertRow } from '../../platform/db/insert.ts';
import { forbidden, notFound } from '../../platform/errors.ts';
import { recordAudit } from '../../core/access/audit.ts';
import { type UserRow, lockUser } from '../users/queries.ts';
import { maxAgentLength } from './start_session.ts';

/** Returns why nobody may act as a user; null: administrators may. */
export const findImpersonationProblem = (user: UserRow): string | null => {
  if (user.ghost === 1) return 'This is an internal user.';
  if (user.admin === 1) return 'Administrators cannot be impersonated.';
  return user.state === 'active' ? null : 'The user is blocked.';
};

/**
 * Starts a session in which the caller acts as another user. It ends with the caller's own session, after an hour, and
 * when either of the two gains or loses the role of an administrator.
 * @returns the cookie of the session
 * @throws Failure 403 for callers who are not administrators in their own session, and for users who must not be
 * impersonated; 404 for an unknown user
 */
export const startImpersonation = async (call: Call, userId: number): Promise<string> => {
  const actor = requireActor(call);
  const { credential, sudo_by_id } = actor;
  if (!call.admin || credential.kind !== 'session' || sudo_by_id !== null) throw forbidden();
  const secret = generateSecret(call.platform.random);
  await call.write(async (tx) => {
    const user = await lockUser(tx, userId);
    const problem = findImpersonationProblem(user);
    if (problem !== null) throw forbidden(problem);
    const own = await tx.db
      .selectFrom('sessions')
      .select('id')
      .where('id', '=', credential.id)
      .executeTakeFirst();
    if (own === undefined) throw forbidden();
    const id = await insertRow(tx.db, 'sessions', {
      user_id: userId,
      token_hash: hashToken(secret),
      provider: null,
      ip: call.ip,
      user_agent: call.userAgent.slice(0, maxAgentLength),
      created_at: tx.now,
      signed_in_at: tx.now,
      last_seen_at: tx.now,
      impersonator_session_id: credential.id,
    });
    await recordAudit(tx, actor, call, {
      kind: 'impersonation.started',
      target_type: 'User',
      target_id: userId,
      details: { session_id: id },
    });
  });
  return secret;
};

/**
 * Ends the impersonation of a call.
 * @param ownSecret cookie of the administrator's own session, which the browser kept
 * @returns whether the cookie belongs to the session behind, so that the browser may continue with it
 * @throws Failure 404 for a call that does not impersonate
 */
export const endImpersonation = async (call: Call, ownSecret: string | null): Promise<boolean> => {
  const { user, credential, sudo_by_id } = requireActor(call);
  if (credential.kind !== 'session' || sudo_by_id === null) throw notFound('Session');
  return await call.write(async (tx) => {
    const ended = await tx.db
      .deleteFrom('sessions')
      .where('id', '=', credential.id)
      .returning('impersonator_session_id')
      .executeTakeFirst();
    if (ended === undefined) throw notFound('Session');
    await recordAudit(tx, { user: { id: sudo_by_id }, sudo_by_id: null }, call, {
      kind: 'impersonation.ended',
      target_type: 'User',
      target_id: user.id,
      details: { session_id: credential.id },
    });
    if (ownSecret === null) return false;
    const own = await tx.db
      .selectFrom('sessions')
      .select('id')
      .where('token_hash', '=', hashToken(ownSecret))
      .executeTakeFirst();
    return own !== undefined && own.id === ended.impersonator_session_id;
  });
};

/** Signs out an administrator who acts as another user: ends the session behind, and with it all that it started. */
export const endBothSessions = async (call: Call): Promise<void> => {
  const { credential, sudo_by_id } = requireActor(call);
  if (sudo_by_id === null) throw notFound('Session');
  await call.write(async (tx) => {
    const behind = tx.db
      .selectFrom('sessions')
      .select('impersonator_session_id')
      .where('id', '=', credential.id)
      .where('impersonator_session_id', 'is not', null);
    const { id } = (await tx.db
      .deleteFrom('sessions')
      .where('id', '=', behind)
      .returning('id')
      .executeTakeFirst()) ?? {
      id: credential.id,
    };
    const cause = { user: { id: sudo_by_id }, sudo_by_id: null };
    await recordAudit(tx, cause, call, { kind: 'session.ended', target_type: 'Session', target_id: id });
  });
};
