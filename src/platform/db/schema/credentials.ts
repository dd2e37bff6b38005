/**
 * Row types of the tables of keys, tokens, sessions, second factors, passkeys and OAuth; conventions as in
 * `database.ts`.
 */
import type { Generated } from 'kysely';
import type { Flag, Id } from './column_types.ts';

export type KeyUsage = 'auth' | 'signing' | 'auth_and_signing';

/** SSH keys of users, and deploy keys of projects (without a user). */
export type KeysTable = {
  id: Id;
  user_id: number | null;
  title: string;
  /** As in the key, for example `ssh-ed25519`. */
  type: string;
  /** Base64. */
  blob: string;
  comment: string;
  /** Selects the setting that restricts such keys. */
  family: 'rsa' | 'dsa' | 'ecdsa' | 'ed25519';
  bits: number;
  /** MD5, hexadecimal with colons. */
  fingerprint: string;
  /** Base64 without padding. */
  fingerprint_sha256: string;
  /** Keys for signing only cannot authenticate. */
  usage_type: Generated<KeyUsage>;
  expires_at: number | null;
  last_used_at: number | null;
  /** Address of that use; null: unknown. */
  last_used_ip: Generated<string | null>;
  /** A deploy key of the instance: maintainers of any project may enable it. */
  shared: Generated<Flag>;
  created_at: number;
};

/** OpenPGP keys of users. */
export type GpgKeysTable = {
  id: Id;
  user_id: number;
  /** Armored. */
  key: string;
  /** 40 hex digits in upper case, ending with `primary_keyid`. */
  fingerprint: string;
  primary_keyid: string;
  /** JSON: the names and addresses that the key has. */
  users: string;
  created_at: number;
};

/** The keys in an OpenPGP key that may sign. */
export type GpgSigningKeysTable = {
  id: Id;
  gpg_key_id: number;
  keyid: string;
  fingerprint: string;
  is_primary: Flag;
  /** The packet of the key, in base64. */
  body: string;
  /** Seconds, as OpenPGP has them; null: never. */
  ends_at: number | null;
  is_revoked: Flag;
};

export type TokensTable = {
  id: Id;
  user_id: number;
  kind: 'personal' | 'impersonation' | 'private' | 'oauth';
  name: string;
  /** SHA-256 of the token text, hexadecimal. The text itself is never stored. */
  token_hash: string;
  description: Generated<string | null>;
  /** JSON array of scope names. */
  scopes: string;
  revoked: Generated<Flag>;
  /** `YYYY-MM-DD`: the token expires at 00:00 UTC of that day. */
  expires_at: string | null;
  last_used_at: number | null;
  /** Address of that use; null: unknown. */
  last_used_ip: Generated<string | null>;
  created_at: number;
  /** OAuth: when the access token expires; its refresh token remains valid. */
  dies_at: Generated<number | null>;
  /** OAuth: null for a token from a password grant. */
  application_id: Generated<number | null>;
  /** SHA-256 of the refresh token issued with it. */
  refresh_hash: Generated<string | null>;
  /** Shared by all tokens refreshed from one authorization, so that they can be revoked together. */
  family: Generated<string | null>;
};

/** Sessions of signed-in browsers. */
export type SessionsTable = {
  id: Id;
  user_id: number;
  /** SHA-256 of the cookie's text, hexadecimal. The text itself is never stored. */
  token_hash: string;
  /** Provider of the sign-in; null: password. */
  provider: string | null;
  ip: string;
  user_agent: string;
  created_at: number;
  /** When the user last authenticated. */
  signed_in_at: number;
  last_seen_at: number;
  /** Session of the administrator who acts as the user; null: the user's own session. */
  impersonator_session_id: number | null;
};

/** Failed sign-ins, counted by origin (`identity/sessions/sign_in_failures.ts`). */
export type SignInFailuresTable = {
  name: string;
  failures: number;
  /** Time of the first counted failure. */
  first_at: number;
  /** Consecutive refusals so far. */
  refusals: number;
  refused_until: number;
};

/** Sign-ins with a correct password that still lack the second factor. */
export type SignInChallengesTable = {
  token_hash: string;
  user_id: number;
  provider: string | null;
  created_at: number;
};

/** Second factor of a user, effective once `users.two_factor_enabled` is set. */
export type TwoFactorsTable = {
  user_id: number;
  /** The TOTP key, encrypted (`core/access/credentials/encrypt_secrets.ts`). */
  sealed_secret: string;
  /** Last 30-second step whose code was used, so that no code is accepted twice. */
  last_step: number;
  created_at: number;
};

export type RecoveryCodesTable = { id: Id; user_id: number; code_hash: string };

/** Keys in devices and password managers, with which users sign in without a password. */
export type PasskeysTable = {
  id: Id;
  user_id: number;
  name: string;
  /** Base64url, as the authenticator named it. */
  credential_id: string;
  /** COSE, base64url. */
  public_key: string;
  /** Signatures that the authenticator has counted; 0 if it does not count. */
  sign_count: number;
  /** JSON array: `internal`, `usb` and others. */
  transports: string;
  created_at: number;
  last_used_at: number | null;
};

/** Challenges of passkeys that were answered, until they expire. */
export type AnsweredChallengesTable = { challenge_hash: string; answered_at: number };

/** Accounts at configured sign-in providers: at most one per provider and user. */
export type UserIdentitiesTable = {
  id: Id;
  user_id: number;
  provider: string;
  /** The provider's `sub`. */
  extern_uid: string;
  created_at: number;
};

export type OauthApplicationsTable = {
  id: Id;
  /** null: an application of the instance. */
  owner_id: number | null;
  name: string;
  /** Public `client_id`. */
  uid: string;
  /** SHA-256 of the application's secret. */
  secret_hash: string;
  /** JSON array. */
  redirect_uris: string;
  /** JSON array: scopes that it may request. */
  scopes: string;
  /** Confidential clients keep a secret; public clients must use PKCE. */
  confidential: Flag;
  /** Users need not consent. */
  trusted: Flag;
  created_at: number;
  updated_at: number;
};

/** Authorization codes, valid once and for ten minutes. */
export type OauthGrantsTable = {
  id: Id;
  code_hash: string;
  application_id: number;
  user_id: number;
  redirect_uri: string;
  /** JSON array. */
  scopes: string;
  /** PKCE, method S256. */
  code_challenge: string | null;
  /** Family of the tokens that the code is exchanged for. */
  family: string;
  dies_at: number;
  used_at: number | null;
  created_at: number;
};

export type CredentialsSchema = {
  tokens: TokensTable;
  sessions: SessionsTable;
  sign_in_failures: SignInFailuresTable;
  oauth_applications: OauthApplicationsTable;
  oauth_grants: OauthGrantsTable;
  user_identities: UserIdentitiesTable;
  keys: KeysTable;
  gpg_keys: GpgKeysTable;
  gpg_signing_keys: GpgSigningKeysTable;
  two_factors: TwoFactorsTable;
  recovery_codes: RecoveryCodesTable;
  sign_in_challenges: SignInChallengesTable;
  passkeys: PasskeysTable;
  answered_challenges: AnsweredChallengesTable;
};
