/** Verifies OpenPGP signatures of commits by the keys of users. */
import { parseDetached, isSignedData } from '../../../identity/gpg_keys/openpgp/certificate.ts';
import { parsePublicKey } from '../../../identity/gpg_keys/openpgp/public_key.ts';
import type { Signature } from '../../../identity/gpg_keys/openpgp/signature.ts';
import { type SigningKeyRow, findSigningKeys, readGpgUsers } from '../../../identity/gpg_keys/queries.ts';
import { loadConfirmedAddresses } from '../../../identity/users/addresses/further_addresses.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { Commit } from '../../../platform/git/protocol_types.ts';

/** GitLab's names. */
export type PgpStatus =
  | 'verified'
  /** The key did not sign the commit, or was no longer valid. */
  | 'unverified'
  /** No address in the key is a confirmed one of its owner. */
  | 'unverified_key'
  /** The committer is somebody else. */
  | 'other_user'
  | 'unknown_key'
  | 'revoked_key'
  | 'multiple_signatures';

export type PgpKey = {
  gpg_key_id: number | null;
  gpg_key_primary_keyid: string | null;
  gpg_key_user_name: string | null;
  gpg_key_user_email: string | null;
  gpg_key_subkey_id: number | null;
};

export const noPgpKey: PgpKey = {
  gpg_key_id: null,
  gpg_key_primary_keyid: null,
  gpg_key_user_name: null,
  gpg_key_user_email: null,
  gpg_key_subkey_id: null,
};

type Signer = { id: number; name: string; username: string; email: string; email_unchecked: number };

export type PgpVerification = { status: PgpStatus; pgp: PgpKey; user: Signer | null };

const isSignedBy = (signature: Signature, row: SigningKeyRow, content: Buffer): boolean => {
  const key = parsePublicKey(Buffer.from(row.body, 'base64'));
  const { ends_at } = row;
  return key !== null && isSignedData(signature, { key, ends_at, isRevoked: false }, content);
};

/** Decides in the order in which GitLab does. */
const decideStatus = (
  { isValid, isRevoked }: { isValid: boolean; isRevoked: boolean },
  { users, addresses }: { users: readonly { email: string }[]; addresses: readonly string[] },
  { committer }: Pick<Commit, 'committer'>,
): PgpStatus => {
  const confirmed = users.filter((one) => addresses.includes(one.email));
  const email = committer.email.toLowerCase();
  if (isRevoked) return 'revoked_key';
  if (confirmed.length === 0) return 'unverified_key';
  if (!isValid) return 'unverified';
  // Addresses in the key that are not confirmed for the account prove nothing.
  return confirmed.some((one) => one.email === email) ? 'verified' : 'other_user';
};

const toPgpKey = (
  row: SigningKeyRow,
  users: readonly { name: string; email: string }[],
  email: string,
): PgpKey => {
  const named = users.find((one) => one.email === email.toLowerCase()) ?? users[0];
  return {
    gpg_key_id: row.gpg_key_id,
    gpg_key_primary_keyid: row.primary_keyid,
    gpg_key_user_name: named?.name ?? null,
    gpg_key_user_email: named?.email ?? null,
    gpg_key_subkey_id: row.is_primary === 1 ? null : row.id,
  };
};

/** Verifies an armored signature of a commit. */
export const verifyPgp = async (
  db: Reader,
  text: string,
  commit: Pick<Commit, 'committer'>,
  content: Buffer,
): Promise<PgpVerification> => {
  const detached = parseDetached(text);
  const unknown = { status: 'unknown_key', pgp: noPgpKey, user: null } as const;
  if (detached === 'several') return { ...unknown, status: 'multiple_signatures' };
  const signature = detached?.signature;
  if (signature === undefined || signature.issuer === null) return unknown;
  const rows = await findSigningKeys(db, signature.issuer);
  const signer = rows.find((row) => isSignedBy(signature, row, content));
  const row = signer ?? rows[0];
  if (row === undefined) return unknown;
  const user = await db
    .selectFrom('users')
    .select(['id', 'name', 'username', 'email', 'email_unchecked'])
    .where('id', '=', row.user_id)
    .executeTakeFirst();
  if (user === undefined) return unknown;
  const users = readGpgUsers(row);
  const state = { isValid: signer !== undefined, isRevoked: row.is_revoked === 1 };
  const addresses = await loadConfirmedAddresses(db, user);
  const status = decideStatus(state, { users, addresses }, commit);
  return { status, pgp: toPgpKey(row, users, commit.committer.email), user };
};
