/** The row types of the tables that tell who somebody is; conventions as in `schema.ts`. */
import type { Generated } from 'kysely';
import type { Flag } from './schema.ts';

type Id = Generated<number>;

export type TokensTable = {
  id: Id;
  user_id: number;
  kind: 'personal' | 'impersonation' | 'private' | 'oauth';
  name: string;
  /** SHA-256 of the token text, hexadecimal. The text itself is never stored. */
  token_hash: string;
  /** JSON array of scope names. */
  scopes: string;
  revoked: Generated<Flag>;
  /** `YYYY-MM-DD`: the token dies at 00:00 UTC of that day. */
  expires_at: string | null;
  last_used_at: number | null;
  created_at: number;
  /** OAuth: when it dies; its refresh token lives on. */
  dies_at: Generated<number | null>;
  /** OAuth: null: given for a password, to no application. */
  application_id: Generated<number | null>;
  /** SHA-256 of the refresh token that came with it. */
  refresh_hash: Generated<string | null>;
  /** The same in all that came, by refreshing, of one authorization: they end together. */
  family: Generated<string | null>;
};

/** Browsers that are signed in. */
export type SessionsTable = {
  id: Id;
  user_id: number;
  /** SHA-256 of the cookie's text, hexadecimal. The text itself is never stored. */
  token_hash: string;
  /** By which sign-in source; null: with a password. */
  provider: string | null;
  ip: string;
  user_agent: string;
  created_at: number;
  /** When its owner last proved who he is. */
  signed_in_at: number;
  last_seen_at: number;
};

/** Sign-ins that failed, counted by whence they came (`sessions/failures.ts`). */
export type SignInFailuresTable = {
  name: string;
  failures: number;
  /** Of those counted. */
  first_at: number;
  /** How often it has been refused of late. */
  refusals: number;
  refused_until: number;
};

/** What asks for access in a user's name. */
export type OauthApplicationsTable = {
  id: Id;
  /** null: of the instance. */
  owner_id: number | null;
  name: string;
  /** Its public `client_id`. */
  uid: string;
  /** SHA-256 of its secret. */
  secret_hash: string;
  /** JSON array. */
  redirect_uris: string;
  /** JSON array: what it may ask for. */
  scopes: string;
  /** Keeps a secret; one that cannot must use PKCE. */
  confidential: Flag;
  /** Users are not asked for their consent. */
  trusted: Flag;
  created_at: number;
  updated_at: number;
};

/** Authorization codes: each is good once, for ten minutes. */
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
  /** Of the tokens that it gives. */
  family: string;
  dies_at: number;
  used_at: number | null;
  created_at: number;
};

/** Accounts at configured sign-in providers: at most one of each provider for a user. */
export type UserIdentitiesTable = {
  id: Id;
  user_id: number;
  provider: string;
  /** The provider's `sub`. */
  extern_uid: string;
  created_at: number;
};

/** An SSH key: of a user, or (without one) a deploy key of projects. */
export type KeysTable = {
  id: Id;
  user_id: number | null;
  title: string;
  /** As the key says it: `ssh-ed25519`. */
  type: string;
  /** Base64. */
  blob: string;
  comment: string;
  /** Which restriction of the settings is about it. */
  family: 'rsa' | 'dsa' | 'ecdsa' | 'ed25519';
  bits: number;
  /** MD5, hexadecimal with colons. */
  fingerprint: string;
  /** Base64 without padding. */
  fingerprint_sha256: string;
  expires_at: number | null;
  last_used_at: number | null;
  created_at: number;
};

export type DeployKeyProjectsTable = {
  project_id: number;
  key_id: number;
  can_push: Flag;
  created_at: number;
};

/** The second factor of a user; it counts once `users.two_factor_enabled` says so. */
export type TwoFactorsTable = {
  user_id: number;
  /** The authenticator's key, sealed (`access/seal.ts`). */
  sealed_secret: string;
  /** The last 30-second step whose code was used: no code is good twice. */
  last_step: number;
  created_at: number;
};

export type RecoveryCodesTable = { id: Id; user_id: number; code_hash: string };

/** Who gave the right password, and has yet to give the second factor. */
export type SignInChallengesTable = {
  token_hash: string;
  user_id: number;
  provider: string | null;
  created_at: number;
};

export type AccessSchema = {
  tokens: TokensTable;
  sessions: SessionsTable;
  sign_in_failures: SignInFailuresTable;
  oauth_applications: OauthApplicationsTable;
  oauth_grants: OauthGrantsTable;
  user_identities: UserIdentitiesTable;
  two_factors: TwoFactorsTable;
  recovery_codes: RecoveryCodesTable;
  sign_in_challenges: SignInChallengesTable;
  keys: KeysTable;
  deploy_key_projects: DeployKeyProjectsTable;
};
