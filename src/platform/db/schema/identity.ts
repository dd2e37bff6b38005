/** Row types of the tables of users, namespaces, members and invitations; conventions as in `database.ts`. */
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
  /** Hours. */
  two_factor_grace_period: Generated<number>;
  /** When the group began to require a second factor; null if it does not. */
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
  /** Same format as `users.avatar`. */
  avatar: Generated<string | null>;
  /** SHA-256 of the runner registration token. */
  runners_token_hash: Generated<string | null>;
  created_at: number;
  updated_at: number;
  /** Set if the group is hidden from everyone, with everything below it, until background work deletes the rows. */
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

/** Secondary email addresses of users, in lower case. */
export type EmailsTable = {
  id: Id;
  user_id: number;
  email: string;
  confirmed_at: number | null;
  /** When the mail with the link was requested, which works for three days. */
  requested_at: number;
  /** null if the mail was not sent yet. */
  mailed_at: number | null;
  created_at: number;
};

/** Addresses that were invited to projects and groups, until an account accepts. */
export type InvitationsTable = {
  id: Id;
  source_type: SourceType;
  source_id: number;
  /** Lower case. */
  email: string;
  access_level: number;
  /** Expiration date of the membership. */
  expires_at: string | null;
  created_by_id: number | null;
  created_at: number;
  /** When the mail server accepted the mail. */
  mailed_at: Generated<number | null>;
  /** Why the last attempt to mail failed. */
  mail_error: Generated<string | null>;
};

/** Users that hold the access tokens of a project or group. */
export type BotsTable = { user_id: number; source_type: SourceType; source_id: number };

/** Groups with which projects and groups are shared: their members have a role in them. */
export type GroupLinksTable = {
  id: Id;
  /** Shared project or group. */
  source_type: SourceType;
  source_id: number;
  group_id: number;
  /** The role that members get at most. */
  group_access: number;
  /** `YYYY-MM-DD`; null: never. */
  expires_at: string | null;
  created_at: number;
};

/** Status that users set for themselves; no row: no status. */
export type UserStatusesTable = {
  user_id: number;
  emoji: string;
  message: string;
  availability: 'not_set' | 'busy';
  /** Time from which on it does not apply; null: it stays. */
  clear_at: number | null;
};

/** Page preferences of a user; no row: the browser's settings. `choices` has the same content as the cookie. */
export type UserPreferencesTable = { user_id: number; choices: string };

export type IdentitySchema = {
  user_preferences: UserPreferencesTable;
  user_statuses: UserStatusesTable;
  users: UsersTable;
  namespaces: NamespacesTable;
  routes: RoutesTable;
  redirect_routes: RedirectRoutesTable;
  members: MembersTable;
  invitations: InvitationsTable;
  bots: BotsTable;
  group_links: GroupLinksTable;
  emails: EmailsTable;
};
