import type { Platform } from '../../core/platform.ts';
import { unseal } from '../../core/access/credentials/encrypt_secrets.ts';
import type { Tx } from '../../platform/db/open.ts';
import { type Totp, findStep } from './totp.ts';
import { useCode } from './recovery_codes.ts';

export const sealedFor = 'two_factor';

type Row = { sealed_secret: string; last_step: number };

const lockRow = async (tx: Tx, userId: number): Promise<Row | undefined> =>
  await tx.db
    .selectFrom('two_factors')
    .select(['sealed_secret', 'last_step'])
    .where('user_id', '=', userId)
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirst();

/** The parts that check a code: the platform with the encryption key, and the library. */
export type Reading = { platform: Platform; totp: Totp };

/** Uses up a code of the authenticator and returns whether it was valid. */
export const useStep = async (
  tx: Tx,
  { platform: { secrets }, totp }: Reading,
  userId: number,
  code: string,
): Promise<boolean> => {
  const row = await lockRow(tx, userId);
  if (row === undefined) return false;
  const key = unseal(secrets.encryption_key, sealedFor, row.sealed_secret);
  const step = findStep(totp, { key, code, now: tx.now, lastStep: row.last_step });
  if (step === null) return false;
  await tx.db.updateTable('two_factors').set({ last_step: step }).where('user_id', '=', userId).execute();
  return true;
};

/** Checks a code of the authenticator or a recovery code, and uses it up. */
export const useFactor = async (
  tx: Tx,
  reading: Reading,
  userId: number,
  code: string,
): Promise<'authenticator' | 'recovery code' | null> => {
  if (await useStep(tx, reading, userId, code)) return 'authenticator';
  return (await useCode(tx, reading.platform.secrets, userId, code)) ? 'recovery code' : null;
};
