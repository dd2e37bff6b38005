import { type Call, requireActor } from '../../core/access/call.ts';
import { notifyOfSecurityChange } from '../../core/mail/notify_of_security_change.ts';
import type { Tx } from '../../platform/db/open.ts';
import { recordAudit } from '../../core/access/audit.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { requireNoBot } from '../bots/is_bot.ts';
import { lockUser } from '../users/queries.ts';
import type { KeyRow } from './queries.ts';
import { type KeyInput, type NewKey, checkKey, fingerprintTaken } from './rules.ts';

/** Returns the attributes of a key that the audit log records. */
export const toAuditDetails = ({ user_id, title, type, bits, fingerprint_sha256, usage_type }: KeyRow) => ({
  user_id,
  title,
  type,
  bits,
  usage_type,
  fingerprint: `SHA256:${fingerprint_sha256}`,
});

/**
 * Stores a checked key.
 * @param userId null: a deploy key
 * @param shared 1: maintainers of any project may enable the deploy key
 * @throws Failure 400 if the key is stored already
 */
export const insertKey = async (
  tx: Tx,
  call: Call,
  userId: number | null,
  key: NewKey & { shared?: 1 },
): Promise<KeyRow> => {
  const row = await tx.db
    .insertInto('keys')
    .values({ ...key, user_id: userId, last_used_at: null, created_at: tx.now })
    .onConflict((clash) => clash.column('fingerprint_sha256').doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw fingerprintTaken();
  const actor = requireActor(call);
  const target = { target_type: 'Key', target_id: row.id };
  await recordAudit(tx, actor, call, { kind: 'key.created', ...target, details: toAuditDetails(row) });
  await recordEvent(tx, actor, {
    kind: 'key.created',
    project_id: null,
    ...target,
    data: toAuditDetails(row),
  });
  return row;
};

/**
 * Adds a key to a user.
 * @throws Failure 404 for an unknown user, 403 for a bot, 400 for an invalid key
 */
export const createKey = async (call: Call, userId: number, input: KeyInput): Promise<KeyRow> => {
  const key = await checkKey(call, input);
  return await call.write(async (tx) => {
    await lockUser(tx, userId);
    await requireNoBot(tx.db, userId);
    const row = await insertKey(tx, call, userId, key);
    await notifyOfSecurityChange(call.platform, tx, userId, 'account.ssh_key_added');
    return row;
  });
};
