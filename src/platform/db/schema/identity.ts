/** Row types of the tables of users, namespaces, members and credentials; conventions as in `database.ts`. */
import type { Generated } from 'kysely';
import type {
  Flag,
  Id,
  ProjectCreationLevel,
  SharedRunnersSetting,
  SourceType,
  Visibility,
} from './column_types.ts';

export type UsersTable = {
  id: Id;
  username: string;
  name: string;
  email: string;
  state: 'active' | 'blocked';
  admin: Flag;
  external: Flag;
  password_hash: string | null;
  can_create_group: Flag;
  /** Maximum personal projects. New users get the instance's default. */
  projects_limit: number;
  bio: string | null;
  location: string | null;
  skype: string | null;
  linkedin: string | null;
  twitter: string | null;
  website_url: string | null;
  organization: string | null;
  public_email: string | null;
  /** `src/identity/avatars/avatar_urls.ts` describes its form; null: none was uploaded. */
  avatar: Generated<string | null>;
  note: string | null;
  /** Name and username, folded by `searchText` for search. */
  search_text: string;
  /** The user to whom records of deleted users are reassigned. */
  ghost: Generated<Flag>;
  two_factor_enabled: Generated<Flag>;
  /** The user entered the address themselves, and it was not verified. */
  email_unchecked: Generated<Flag>;
  last_sign_in_at: number | null;
  last_activity_on: string | null;
  /** Addresses of feeds of an earlier number no longer authenticate the user. */
  feed_generation: Generated<number>;
  created_at: number;
  updated_at: number;
};

export type NamespacesTable = {
  id: Id;
  kind: 'user' | 'group';
  parent_id: number | null;
  /** Set for personal namespaces only. */
  owner_id: number | null;
  path: string;
  /** `parent/child`, kept in step with `routes`. */
  full_path: string;
  name: string;
  description: string;
  visibility: Visibility;
  lfs_enabled: Generated<Flag>;
  request_access_enabled: Generated<Flag>;
  /** Role that may create projects in the group. */
  project_creation_level: Generated<ProjectCreationLevel>;
  subgroup_creation_level: Generated<'owner' | 'maintainer'>;
  /** Members need a second factor; see `core/access/credentials/second_factor_due.ts` for the deadline. */
  require_two_factor_authentication: Generated<Flag>;
  /** In hours. */
  two_factor_grace_period: Generated<number>;
  /** When the group began to require a second factor; null: it does not. */
  two_factor_required_at: Generated<number | null>;
  /** Default branch protection of new projects, as in the instance's settings; null: the instance's setting. */
  default_branch_protection: Generated<number | null>;
  /** Default branch of new projects that start with a README; null: the instance's setting. */
  default_branch: Generated<string | null>;
  /** Stored and shown, without effect: projects cannot be shared with groups. */
  share_with_group_lock: Generated<Flag>;
  /** Projects of the group cannot have members of their own. */
  membership_lock: Generated<Flag>;
  emails_disabled: Generated<Flag>;
  mentions_disabled: Generated<Flag>;
  auto_devops_enabled: Generated<Flag | null>;
  shared_runners_setting: Generated<SharedRunnersSetting>;
  /** As of users. */
  avatar: Generated<string | null>;
  /** SHA-256 of the runner registration token. */
  runners_token_hash: Generated<string | null>;
  created_at: number;
  updated_at: number;
  /** Not null: hidden from everyone, with everything below it, until background work deletes the rows. */
  deleted_at: number | null;
};

/** Paths of projects and namespaces, unique together, ignoring case. */
export type RoutesTable = {
  /** Lower case. */
  path: string;
  source_type: SourceType;
  source_id: number;
};

/** Former paths, which redirect to their previous owner until another record takes them. */
export type RedirectRoutesTable = RoutesTable;

export type MembersTable = {
  id: Id;
  user_id: number;
  source_type: SourceType;
  source_id: number;
  access_level: number;
  expires_at: string | null;
  created_by_id: number | null;
  created_at: number;
};

/** Addresses of users beside that of the account, in lower case. */
export type EmailsTable = {
  id: Id;
  user_id: number;
  email: string;
  confirmed_at: number | null;
  /** When the mail with the link was requested, which works for three days. */
  requested_at: number;
  /** null: the mail was not sent yet. */
  mailed_at: number | null;
  created_at: number;
};

/** OpenPGP keys of users. */
export type GpgKeysTable = {
  id: Id;
  user_id: number;
  /** Armored. */
  key: string;
  /** 40 hex digits in upper case, of which `primary_keyid` is the end. */
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

/** Addresses that were invited to projects and groups, until an account accepts. */
export type InvitationsTable = {
  id: Id;
  source_type: SourceType;
  source_id: number;
  /** In lower case. */
  email: string;
  access_level: number;
  /** Of the membership. */
  expires_at: string | null;
  created_by_id: number | null;
  created_at: number;
  /** When the mail server accepted the mail. */
  mailed_at: Generated<number | null>;
  /** Why the last attempt to mail failed. */
  mail_error: Generated<string | null>;
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

/** Users that hold the access tokens of a project or group. */
export type BotsTable = { user_id: number; source_type: SourceType; source_id: number };

/** Groups with which projects and groups are shared: their members have a role in them. */
export type GroupLinksTable = {
  id: Id;
  /** What is shared. */
  source_type: SourceType;
  source_id: number;
  group_id: number;
  /** The role that members get at most. */
  group_access: number;
  /** `YYYY-MM-DD`; null: never. */
  expires_at: string | null;
  created_at: number;
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

/** OAuth applications. */
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
  /** Confidential clients keep a secret; public ones must use PKCE. */
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

/** Accounts at configured sign-in providers: at most one per provider and user. */
export type UserIdentitiesTable = {
  id: Id;
  user_id: number;
  provider: string;
  /** The provider's `sub`. */
  extern_uid: string;
  created_at: number;
};

export type KeyUsage = 'auth' | 'signing' | 'auth_and_signing';

/** SSH keys of users, and deploy keys of projects (without a user). */
export type KeysTable = {
  id: Id;
  user_id: number | null;
  title: string;
  /** As in the key: `ssh-ed25519`. */
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

/** Sign-ins with a correct password that still lack the second factor. */
export type SignInChallengesTable = {
  token_hash: string;
  user_id: number;
  provider: string | null;
  created_at: number;
};

/** Keys in devices and password managers, with which users sign in without a password. */
export type PasskeysTable = {
  id: Id;
  user_id: number;
  name: string;
  /** Base64url, as the authenticator named it. */
  credential_id: string;
  /** COSE, base64url. */
  public_key: string;
  /** Signatures that the authenticator has counted; 0: it does not count. */
  sign_count: number;
  /** JSON array: `internal`, `usb` and others. */
  transports: string;
  created_at: number;
  last_used_at: number | null;
};

/** Challenges of passkeys that were answered, until they expire. */
export type AnsweredChallengesTable = { challenge_hash: string; answered_at: number };

/** What users say of themselves; no row: nothing. */
export type UserStatusesTable = {
  user_id: number;
  emoji: string;
  message: string;
  availability: 'not_set' | 'busy';
  /** Time from which on it does not apply; null: it stays. */
  clear_at: number | null;
};

export type IdentitySchema = {
  user_statuses: UserStatusesTable;
  users: UsersTable;
  namespaces: NamespacesTable;
  routes: RoutesTable;
  redirect_routes: RedirectRoutesTable;
  members: MembersTable;
  invitations: InvitationsTable;
  tokens: TokensTable;
  bots: BotsTable;
  group_links: GroupLinksTable;
  sessions: SessionsTable;
  sign_in_failures: SignInFailuresTable;
  oauth_applications: OauthApplicationsTable;
  oauth_grants: OauthGrantsTable;
  user_identities: UserIdentitiesTable;
  keys: KeysTable;
  emails: EmailsTable;
  gpg_keys: GpgKeysTable;
  gpg_signing_keys: GpgSigningKeysTable;
  two_factors: TwoFactorsTable;
  recovery_codes: RecoveryCodesTable;
  sign_in_challenges: SignInChallengesTable;
  passkeys: PasskeysTable;
  answered_challenges: AnsweredChallengesTable;
};
