/** The signature of a commit or a tag: by whose key, and whether it is verified. */
import type { Call } from '../../../core/access/call.ts';
import { publicKeyJson, publicKeyShape } from '../../../identity/keys/json.ts';
import type { KeyRow } from '../../../identity/keys/queries.ts';
import { loadConfirmedAddresses } from '../../../identity/users/addresses/further_addresses.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { Commit, Ref } from '../../../platform/git/protocol_types.ts';
import { int, nullable, object, optional, string } from '../../../platform/http/schema.ts';
import type { Code } from '../find_code.ts';
import { type PgpKey, type PgpStatus, noPgpKey, verifyPgp } from './verify_pgp.ts';
import { type SshSignature, isSshSignatureOf, parseSshSignature } from './verify_ssh.ts';

/** `unknown_key`: nobody here has the key. `unverified`: it did not sign the commit, or is another person's. */
type SshStatus = 'verified' | 'unverified' | 'unknown_key';

/** For an unknown key, key and user are null. */
export type CommitSignature = {
  user: { id: number; name: string; username: string } | null;
} & (
  | { type: 'SSH'; status: SshStatus; key: KeyRow | null }
  | { type: 'PGP'; status: PgpStatus; pgp: PgpKey }
);

/** A signed object by the person who must have signed it: the committer, or the tagger. */
type Signed = Pick<Commit, 'committer'>;

const loadSigner = async (db: Reader, { fingerprint }: SshSignature) => {
  const key = await db
    .selectFrom('keys')
    .selectAll()
    .where('fingerprint_sha256', '=', fingerprint)
    .where('usage_type', '<>', 'auth')
    .executeTakeFirst();
  if (key === undefined || key.user_id === null) return null;
  const user = await db
    .selectFrom('users')
    .select(['id', 'name', 'username', 'email', 'email_unchecked'])
    .where('id', '=', key.user_id)
    .executeTakeFirst();
  return user === undefined ? null : { key, user, addresses: await loadConfirmedAddresses(db, user) };
};

/** Anybody can be named as the committer: the key must be of the user with that address. */
const verifySsh = async (
  db: Reader,
  signed: SshSignature,
  { committer }: Signed,
  content: Buffer,
): Promise<CommitSignature> => {
  const signer = await loadSigner(db, signed);
  if (signer === null) return { type: 'SSH', status: 'unknown_key', key: null, user: null };
  const { key, user, addresses } = signer;
  const isOwn = addresses.includes(committer.email.toLowerCase());
  const status = isOwn && isSshSignatureOf(signed, content) ? 'verified' : 'unverified';
  return { type: 'SSH', status, key, user };
};

const verify = async (
  db: Reader,
  { signature, content }: { signature: string; content: Buffer },
  by: Signed,
): Promise<CommitSignature | null> => {
  if (signature.startsWith('-----BEGIN PGP SIGNATURE-----'))
    return { type: 'PGP', ...(await verifyPgp(db, signature, by, content)) };
  const signed = parseSshSignature(signature);
  return signed === null ? null : await verifySsh(db, signed, by, content);
};

/** Loads and verifies the signature of a commit; null if it has none that is supported. */
export const loadCommitSignature = async (
  { db }: Pick<Call, 'db'>,
  { repository }: Pick<Code, 'repository'>,
  commit: Commit,
): Promise<CommitSignature | null> => {
  const { result, body: content } = await repository.read('commits.signature', { id: commit.id });
  return result === null ? null : await verify(db, { ...result, content }, commit);
};

/** Loads and verifies the signature of an annotated tag; null if it has none that is supported. */
export const loadTagSignature = async (
  { db }: Pick<Call, 'db'>,
  { repository }: Pick<Code, 'repository'>,
  { target, tagger }: Pick<Ref, 'target' | 'tagger'>,
): Promise<CommitSignature | null> => {
  if (tagger === null) return null;
  const { result, body: content } = await repository.read('tags.signature', { id: target });
  return result === null ? null : await verify(db, { ...result, content }, { committer: tagger });
};

const signatureFields = {
  signature_type: string,
  verification_status: string,
  key: optional(nullable(publicKeyShape)),
  gpg_key_id: optional(nullable(int)),
  gpg_key_primary_keyid: optional(nullable(string)),
  gpg_key_user_name: optional(nullable(string)),
  gpg_key_user_email: optional(nullable(string)),
  gpg_key_subkey_id: optional(nullable(int)),
};

export const commitSignatureShape = object({ ...signatureFields, commit_source: string });
export const tagSignatureShape = object(signatureFields);

/** Keys are shown to users only, as in their lists. */
export const signatureJson = (signature: CommitSignature, { signedIn }: Pick<Call, 'signedIn'>) => {
  const key =
    signature.type === 'PGP'
      ? signedIn
        ? signature.pgp
        : noPgpKey
      : { key: signature.key === null || !signedIn ? null : publicKeyJson(signature.key) };
  return {
    signature_type: signature.type,
    verification_status: signature.status,
    ...key,
    commit_source: 'gitaly',
  };
};
