/** Enrolment of the second factor by the user, who confirms the password each time. */
import { type Call, requireActor } from '../../core/access/call.ts';
import { seal, unseal } from '../../core/access/credentials/encrypt_secrets.ts';
import { notifyOfSecurityChange } from '../../core/mail/notify_of_security_change.ts';
import type { Tx } from '../../platform/db/open.ts';
import { conflict, invalid } from '../../platform/errors.ts';
import { recordAudit } from '../../core/access/audit.ts';
import { confirmPassword } from '../sessions/confirm_password.ts';
import { endAllSessions } from '../users/end_sessions.ts';
import { lockUser } from '../users/queries.ts';
import { newCodes, storeCodes } from './recovery_codes.ts';
import { removeFactor } from './remove_factor.ts';
import { loadTotp, newKey } from './totp.ts';
import { sealedFor, useStep } from './verify_code.ts';

const audit = async (tx: Tx, call: Call, kind: string): Promise<void> => {
  const actor = requireActor(call);
  const target = { target_type: 'User', target_id: actor.user.id };
  await recordAudit(tx, actor, call, { kind, ...target });
};

const requireOff = async (tx: Tx, userId: number): Promise<void> => {
  if ((await lockUser(tx, userId)).two_factor_enabled === 1) throw conflict('409 Conflict');
};

/**
 * Creates a key that has no effect until a code of it is entered.
 * @throws Failure 400 under `current_password`, 409 if the factor is on
 */
export const beginEnrolment = async (call: Call, password: string): Promise<void> => {
  const { user } = requireActor(call);
  await confirmPassword(call, password);
  const sealed_secret = seal(call.platform.secrets.encryption_key, sealedFor, newKey(await loadTotp()));
  await call.write(async (tx) => {
    await requireOff(tx, user.id);
    await tx.db.deleteFrom('two_factors').where('user_id', '=', user.id).execute();
    const row = { user_id: user.id, sealed_secret, last_step: 0, created_at: tx.now };
    await tx.db.insertInto('two_factors').values(row).execute();
  });
};

/** Returns the key that waits for its first code; null: none. */
export const loadPendingKey = async (call: Call): Promise<string | null> => {
  const { user } = requireActor(call);
  const row = await call.db
    .selectFrom('two_factors')
    .innerJoin('users', 'users.id', 'two_factors.user_id')
    .select('sealed_secret')
    .where('user_id', '=', user.id)
    .where('users.two_factor_enabled', '=', 0)
    .executeTakeFirst();
  if (row === undefined) return null;
  return unseal(call.platform.secrets.encryption_key, sealedFor, row.sealed_secret);
};

/**
 * Enables the factor and returns the recovery codes, to be shown once. Revokes access that the password granted before,
 * except this browser's session.
 * @throws Failure 400 under `code`, 409 if the factor is on
 */
export const finishEnrolment = async (call: Call, code: string): Promise<string[]> => {
  const { user, credential } = requireActor(call);
  const { platform } = call;
  const codes = newCodes(platform.random);
  const totp = await loadTotp();
  return await call.write(async (tx) => {
    await requireOff(tx, user.id);
    if (!(await useStep(tx, { platform, totp }, user.id, code))) throw invalid({ code: ['is invalid'] });
    await storeCodes(tx, platform.secrets, user.id, codes);
    await tx.db.updateTable('users').set({ two_factor_enabled: 1 }).where('id', '=', user.id).execute();
    await endAllSessions(tx, user.id, credential.id);
    await audit(tx, call, 'two_factor.enabled');
    return codes;
  });
};

/** Replaces the recovery codes. @throws Failure 400 under `current_password` */
export const replaceCodes = async (call: Call, password: string): Promise<string[]> => {
  const { user } = requireActor(call);
  await confirmPassword(call, password);
  const codes = newCodes(call.platform.random);
  await call.write(async (tx) => {
    if ((await lockUser(tx, user.id)).two_factor_enabled === 0) throw conflict('409 Conflict');
    await storeCodes(tx, call.platform.secrets, user.id, codes);
    await audit(tx, call, 'recovery_codes.created');
    await notifyOfSecurityChange(call.platform, tx, user.id, 'account.recovery_codes_replaced');
  });
  return codes;
};

/** Disables the caller's factor. @throws Failure 400 under `current_password` */
export const disableFactor = async (call: Call, password: string): Promise<void> => {
  await confirmPassword(call, password);
  const { id } = requireActor(call).user;
  await call.write(async (tx) => {
    await removeFactor(tx, id);
    await audit(tx, call, 'two_factor.disabled');
    await notifyOfSecurityChange(call.platform, tx, id, 'account.two_factor_disabled');
  });
};
