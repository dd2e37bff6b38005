import { recordAudit } from '../../core/access/audit.ts';
import { type Call, requireActor } from '../../core/access/call.ts';
import { insertRows } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import { requireRecordQuota } from '../../platform/db/quota.ts';
import { toFlag } from '../../platform/db/schema/column_types.ts';
import { invalid } from '../../platform/errors.ts';
import { requireNoBot } from '../bots/is_bot.ts';
import { loadConfirmedAddresses } from '../users/addresses/further_addresses.ts';
import { lockUser } from '../users/queries.ts';
import { type Certificate, type GpgUser, parseCertificate } from './openpgp/certificate.ts';
import { type GpgKeyRow, findGpgKey, readGpgUsers } from './queries.ts';

/** Characters of a key: enough for thousands of signatures of others. */
export const maxGpgKeyLength = 100_000;

const quota = { what: 'GPG keys', most: 100 };

const invalidKey = (): Error =>
  invalid({
    key: [
      "is invalid. A valid public GPG key begins with '-----BEGIN PGP PUBLIC KEY BLOCK-----' and ends with '-----END PGP PUBLIC KEY BLOCK-----'",
    ],
  });

/** @throws Failure 400 for a text that is not a key that can sign, or a revoked key */
const checkKey = (text: string): Certificate => {
  const certificate = parseCertificate(text);
  if (certificate === null || certificate.signing.length === 0 || certificate.users.length === 0)
    throw invalidKey();
  if (certificate.isRevoked) throw invalid({ key: ['has been revoked'] });
  return certificate;
};

const audit = async (tx: Tx, call: Call, verb: 'created' | 'deleted' | 'revoked', key: GpgKeyRow) =>
  await recordAudit(tx, requireActor(call), call, {
    kind: `gpg_key.${verb}`,
    target_type: 'GpgKey',
    target_id: key.id,
    details: { user_id: key.user_id, fingerprint: key.fingerprint },
  });

/** Returns whether a confirmed address of the user is in a key. */
const isOwnKey = async (tx: Tx, userId: number, users: readonly GpgUser[]): Promise<boolean> => {
  const user = await tx.db
    .selectFrom('users')
    .select(['id', 'email', 'email_unchecked'])
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  const addresses = await loadConfirmedAddresses(tx.db, user);
  return users.some(({ email }) => addresses.includes(email));
};

/**
 * Deletes another user's key that contains an address of this user but no confirmed address of its owner. Anyone can
 * add another person's public key, although it then verifies nothing.
 */
const releaseForeignKey = async (
  tx: Tx,
  call: Call,
  userId: number,
  { primary, users }: Certificate,
): Promise<void> => {
  const held = await tx.db
    .selectFrom('gpg_keys')
    .selectAll()
    .where('fingerprint', '=', primary.fingerprint)
    .where('user_id', '<>', userId)
    .executeTakeFirst();
  if (held === undefined || !(await isOwnKey(tx, userId, users))) return;
  if (await isOwnKey(tx, held.user_id, readGpgUsers(held))) return;
  await tx.db.deleteFrom('gpg_keys').where('id', '=', held.id).execute();
  await audit(tx, call, 'deleted', held);
};

const insertKey = async (
  tx: Tx,
  userId: number,
  text: string,
  certificate: Certificate,
): Promise<GpgKeyRow> => {
  const { primary, users, signing } = certificate;
  const row = await tx.db
    .insertInto('gpg_keys')
    .values({
      user_id: userId,
      key: text,
      fingerprint: primary.fingerprint,
      primary_keyid: primary.keyid,
      users: JSON.stringify(users),
      created_at: tx.now,
    })
    .onConflict((clash) => clash.column('fingerprint').doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw invalid({ fingerprint: ['has already been taken'] });
  const rows = signing.map(({ key, ends_at, isRevoked }) => ({
    gpg_key_id: row.id,
    keyid: key.keyid,
    fingerprint: key.fingerprint,
    is_primary: toFlag(key === primary),
    body: key.body.toString('base64'),
    ends_at,
    is_revoked: toFlag(isRevoked),
  }));
  await insertRows(tx.db, 'gpg_signing_keys', rows);
  return row;
};

/** Adds a key to a user. @throws Failure 400 for an invalid key, 403 for a bot, 404 for an unknown user */
export const createGpgKey = async (call: Call, userId: number, text: string): Promise<GpgKeyRow> => {
  const plain = text.trim();
  if (plain === '') throw invalid({ key: ["can't be blank"] });
  const certificate = checkKey(plain);
  return await call.write(async (tx) => {
    await lockUser(tx, userId);
    await requireNoBot(tx.db, userId);
    await requireRecordQuota(tx.db.selectFrom('gpg_keys').where('user_id', '=', userId), quota);
    await releaseForeignKey(tx, call, userId, certificate);
    const row = await insertKey(tx, userId, plain, certificate);
    await audit(tx, call, 'created', row);
    return row;
  });
};

/**
 * Deletes a key of a user. Signatures by it are of an unknown key from now on, also if it was not revoked.
 * @throws Failure 404
 */
export const removeGpgKey = async (
  call: Call,
  userId: number,
  { id, isRevoked = false }: { id: number; isRevoked?: boolean },
): Promise<void> =>
  await call.write(async (tx) => {
    await lockUser(tx, userId);
    const row = await findGpgKey(tx.db, userId, id);
    await tx.db.deleteFrom('gpg_keys').where('id', '=', id).execute();
    await audit(tx, call, isRevoked ? 'revoked' : 'deleted', row);
  });
