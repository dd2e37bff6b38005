/** Turning the second factor on and off: by the user himself, who proves each time who he is. */
import { type Call, actorOf } from '../access/call.ts';
import { seal, unseal } from '../access/seal.ts';
import type { Tx } from '../db/open.ts';
import { conflict, invalid } from '../errors.ts';
import { recordAudit } from '../access/audit.ts';
import { confirmPassword } from '../sessions/confirm_password.ts';
import { endSessionsOf } from '../users/end_sessions.ts';
import { lockUser } from '../users/queries.ts';
import { newCodes, storeCodes } from './recovery.ts';
import { loadTotp, newKey } from './totp.ts';
import { sealedFor, useStep } from './verify.ts';

const audit = async (tx: Tx, call: Call, kind: string): Promise<void> => {
  const actor = actorOf(call);
  const target = { target_type: 'User', target_id: actor.user.id };
  await recordAudit(tx, actor, call, { kind, ...target });
};

const requireOff = async (tx: Tx, userId: number): Promise<void> => {
  if ((await lockUser(tx, userId)).two_factor_enabled === 1) throw conflict('409 Conflict');
};

/**
 * Makes a key, which counts for nothing until a code of it was given.
 * @throws Failure 400 under `current_password`, 409 where the factor is on
 */
export const beginEnrolment = async (call: Call, password: string): Promise<void> => {
  const { user } = actorOf(call);
  await confirmPassword(call, password);
  const sealed_secret = seal(call.platform.secrets.encryption_key, sealedFor, newKey(await loadTotp()));
  await call.write(async (tx) => {
    await requireOff(tx, user.id);
    await tx.db.deleteFrom('two_factors').where('user_id', '=', user.id).execute();
    const row = { user_id: user.id, sealed_secret, last_step: 0, created_at: tx.now };
    await tx.db.insertInto('two_factors').values(row).execute();
  });
};

/** The key that waits for its first code; null: none does. */
export const waitingKey = async (call: Call): Promise<string | null> => {
  const { user } = actorOf(call);
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
 * Turns the factor on; answers the recovery codes, which are shown once. What the password alone opened before, but
 * for this browser, ends.
 * @throws Failure 400 under `code`, 409 where the factor is on
 */
export const finishEnrolment = async (call: Call, code: string): Promise<string[]> => {
  const { user, credential } = actorOf(call);
  const { platform } = call;
  const codes = newCodes(platform.random);
  const totp = await loadTotp();
  return await call.write(async (tx) => {
    await requireOff(tx, user.id);
    if (!(await useStep(tx, { platform, totp }, user.id, code))) throw invalid({ code: ['is invalid'] });
    await storeCodes(tx, platform.secrets, user.id, codes);
    await tx.db.updateTable('users').set({ two_factor_enabled: 1 }).where('id', '=', user.id).execute();
    await endSessionsOf(tx, user.id, credential.id);
    await audit(tx, call, 'two_factor.enabled');
    return codes;
  });
};

/** @throws Failure 400 under `current_password` */
export const replaceCodes = async (call: Call, password: string): Promise<string[]> => {
  const { user } = actorOf(call);
  await confirmPassword(call, password);
  const codes = newCodes(call.platform.random);
  await call.write(async (tx) => {
    if ((await lockUser(tx, user.id)).two_factor_enabled === 0) throw conflict('409 Conflict');
    await storeCodes(tx, call.platform.secrets, user.id, codes);
    await audit(tx, call, 'recovery_codes.created');
  });
  return codes;
};

/** Nothing of the factor stays. */
export const removeFactor = async (tx: Tx, userId: number): Promise<void> => {
  for (const table of ['two_factors', 'recovery_codes', 'sign_in_challenges'] as const) {
    // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
    await tx.db.deleteFrom(table).where('user_id', '=', userId).execute();
  }
  await tx.db.updateTable('users').set({ two_factor_enabled: 0 }).where('id', '=', userId).execute();
};

/** @throws Failure 400 under `current_password` */
export const disableFactor = async (call: Call, password: string): Promise<void> => {
  await confirmPassword(call, password);
  await call.write(async (tx) => {
    await removeFactor(tx, actorOf(call).user.id);
    await audit(tx, call, 'two_factor.disabled');
  });
};
