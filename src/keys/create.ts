import { type Call, actorOf } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { recordAudit } from '../access/audit.ts';
import { recordEvent } from '../events/record.ts';
import { lockUser } from '../users/queries.ts';
import type { KeyRow } from './queries.ts';
import { type KeyInput, type NewKey, checkKey, fingerprintTaken } from './rules.ts';

/** What an audit tells of a key. */
export const detailsOf = ({ user_id, title, type, bits, fingerprint_sha256 }: KeyRow) => ({
  user_id,
  title,
  type,
  bits,
  fingerprint: `SHA256:${fingerprint_sha256}`,
});

/**
 * Stores a key that was checked.
 * @param userId null: a deploy key
 * @throws Failure 400 where anybody has it already
 */
export const insertKey = async (tx: Tx, call: Call, userId: number | null, key: NewKey): Promise<KeyRow> => {
  const row = await tx.db
    .insertInto('keys')
    .values({ ...key, user_id: userId, last_used_at: null, created_at: tx.now })
    .onConflict((clash) => clash.column('fingerprint_sha256').doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw fingerprintTaken();
  const actor = actorOf(call);
  const target = { target_type: 'Key', target_id: row.id };
  await recordAudit(tx, actor, call, { kind: 'key.created', ...target, details: detailsOf(row) });
  await recordEvent(tx, actor, { kind: 'key.created', project_id: null, ...target, data: detailsOf(row) });
  return row;
};

/**
 * Gives a user one more key.
 * @throws Failure 404 for no user, 400 for a key that cannot be
 */
export const createKey = async (call: Call, userId: number, input: KeyInput): Promise<KeyRow> => {
  const key = await checkKey(call, input);
  return await call.write(async (tx) => {
    await lockUser(tx, userId);
    return await insertKey(tx, call, userId, key);
  });
};
