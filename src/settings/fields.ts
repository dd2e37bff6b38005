/**
 * Every setting of the instance: how it is read, its default, what it governs. The API, the table of values, the
 * administrators' page and the documentation are made of this one list.
 */
import type { Visibility } from '../db/schema.ts';
import { clearable, decimal, decimalNumber, longText, nullable, oneOf, string } from '../http/schema.ts';
import { checks } from './checks.ts';
import {
  type Field,
  count,
  domains,
  flag,
  keys,
  levels,
  list,
  positive,
  url,
  visibility,
  visibilityChoices,
} from './kinds.ts';

export type Settings = {
  default_projects_limit: number;
  signup_enabled: boolean;
  password_authentication_enabled: boolean;
  avatar_service_enabled: boolean;
  sign_in_text: string | null;
  home_page_url: string | null;
  default_branch_protection: number;
  restricted_visibility_levels: readonly string[];
  max_attachment_size: number;
  session_expire_delay: number;
  default_project_visibility: Visibility;
  default_snippet_visibility: Visibility;
  default_group_visibility: Visibility;
  domain_whitelist: readonly string[];
  domain_blacklist_enabled: boolean;
  domain_blacklist: readonly string[];
  user_oauth_applications: boolean;
  after_sign_out_path: string | null;
  container_registry_token_expire_delay: number;
  repository_storages: readonly string[];
  enabled_git_access_protocol: 'ssh' | 'http' | null;
  ide_enabled: boolean;
  ide_url: string | null;
  disabled_oauth_sign_in_sources: readonly string[];
  diagram_enabled: boolean;
  diagram_url: string | null;
  terminal_max_session_time: number;
  polling_interval_multiplier: number;
  rsa_key_restriction: number;
  dsa_key_restriction: number;
  ecdsa_key_restriction: number;
  ed25519_key_restriction: number;
};

export type SettingName = keyof Settings;

export const fields: { [N in SettingName]: Field<Settings[N]> } = {
  default_projects_limit: count(
    100_000,
    {
      group: 'Accounts',
      label: 'Projects a new user may have',
      meaning: 'Limit of personal projects that new users get; existing users keep theirs.',
    },
    0,
  ),
  signup_enabled: flag(true, {
    group: 'Sign-up',
    label: 'Sign-up',
    meaning: 'Whether anybody may make an account for himself.',
  }),
  password_authentication_enabled: flag(true, {
    group: 'Sign-in',
    label: 'Sign-in with a password',
    meaning: 'Whether passwords are accepted: on the page, for OAuth password grants and by git over HTTP.',
    alias: 'signin_enabled',
  }),
  avatar_service_enabled: flag(true, {
    group: 'Pages',
    label: 'Avatars',
    meaning: 'Whether users have the address of a picture at an avatar service (avatar_url).',
    alias: 'gravatar_enabled',
  }),
  sign_in_text: {
    group: 'Sign-in',
    label: 'Text on the sign-in page',
    meaning: 'Shown beside the sign-in form.',
    default: null,
    param: clearable(longText()),
    shape: nullable(string),
    normalise: (value) => (value === null || value.trim() === '' ? null : value),
  },
  home_page_url: url({
    group: 'Pages',
    label: 'Home page',
    meaning: 'Where / leads those who are not signed in.',
  }),
  default_branch_protection: levels(
    2,
    [
      [0, 'None'],
      [1, 'Developers may push, not force-push or delete'],
      [2, 'Only masters push'],
    ],
    {
      group: 'Repositories',
      label: 'Protection of the default branch',
      meaning: 'Acts when a first branch is pushed.',
    },
  ),
  restricted_visibility_levels: {
    ...list([], {
      group: 'Visibility',
      label: 'Restricted visibility levels',
      meaning: 'Levels that only administrators may give to projects, groups and snippets.',
    }),
    check: checks.visibilityLevels,
    choices: visibilityChoices,
  },
  max_attachment_size: positive(10, {
    group: 'Limits',
    label: 'Largest attachment (MB)',
    meaning: 'How large an uploaded file may be, in megabytes.',
  }),
  session_expire_delay: count(
    10_080,
    {
      group: 'Sign-in',
      label: 'Idle session (minutes)',
      meaning:
        'How many minutes a signed-in browser may rest before it must sign in again; 0: as long as it likes.',
    },
    0,
  ),
  default_project_visibility: visibility({
    group: 'Visibility',
    label: 'Visibility of new projects',
    meaning: 'Where a new project names none.',
  }),
  default_snippet_visibility: visibility({
    group: 'Visibility',
    label: 'Visibility of new snippets',
    meaning: 'Where a new snippet names none.',
  }),
  default_group_visibility: visibility({
    group: 'Visibility',
    label: 'Visibility of new groups',
    meaning: 'Where a new group names none.',
  }),
  domain_whitelist: list(
    [],
    {
      group: 'Sign-up',
      label: 'E-mail domains that may sign up',
      meaning: 'Empty: any. *.example.com stands for all below it.',
    },
    domains,
  ),
  domain_blacklist_enabled: flag(false, {
    group: 'Sign-up',
    label: 'Refuse e-mail domains',
    meaning: 'Whether the list of refused e-mail domains acts.',
    needs: 'domain_blacklist',
  }),
  domain_blacklist: list(
    [],
    {
      group: 'Sign-up',
      label: 'E-mail domains that are refused',
      meaning: '*.example.com stands for all below it.',
    },
    domains,
  ),
  user_oauth_applications: flag(true, {
    group: 'Sign-in',
    label: 'Applications of users',
    meaning: 'Whether users may register applications that use this service as an OAuth provider.',
  }),
  after_sign_out_path: url({
    group: 'Pages',
    label: 'After sign-out',
    meaning: 'Where a sign-out leads; empty: to the sign-in page.',
  }),
  container_registry_token_expire_delay: positive(5, {
    group: 'Limits',
    label: 'Life of a registry token (minutes)',
    meaning: 'How long a token for the container registry is good.',
  }),
  repository_storages: {
    ...list(['default'], {
      group: 'Repositories',
      label: 'Repository storages',
      meaning: 'A new project goes to one of these, chosen at random.',
    }),
    check: checks.storages,
    choices: ({ repository_storages }) => repository_storages.map((name) => [name, name]),
  },
  enabled_git_access_protocol: {
    group: 'Repositories',
    label: 'Git protocol',
    meaning: 'ssh or http: the only protocol for clone and push. Empty: both.',
    default: null,
    param: clearable(oneOf(['ssh', 'http', 'nil'])),
    shape: nullable(string),
    normalise: (value) => ((value as string | null) === 'nil' ? null : value),
    choices: () => [
      ['', 'SSH and HTTP'],
      ['ssh', 'Only SSH'],
      ['http', 'Only HTTP'],
    ],
  },
  ide_enabled: flag(false, {
    group: 'Tools',
    label: 'Web IDE',
    meaning: 'Whether pages offer to open a project in the IDE.',
    alias: 'koding_enabled',
    needs: 'ide_url',
  }),
  ide_url: {
    ...url({
      group: 'Tools',
      label: 'Address of the IDE',
      meaning: 'Where the IDE answers.',
      alias: 'koding_url',
    }),
  },
  disabled_oauth_sign_in_sources: {
    ...list([], {
      group: 'Sign-in',
      label: 'Sign-in sources that are off',
      meaning: 'Names of configured providers by which nobody may sign in.',
    }),
    check: checks.signInSources,
    choices: ({ sign_in_sources }) => sign_in_sources.map((name) => [name, name]),
  },
  diagram_enabled: flag(false, {
    group: 'Tools',
    label: 'Diagrams',
    meaning: 'Whether pages show diagrams drawn by the diagram service.',
    alias: 'plantuml_enabled',
    needs: 'diagram_url',
  }),
  diagram_url: url({
    group: 'Tools',
    label: 'Address of the diagram service',
    meaning: 'Where diagrams are drawn.',
    alias: 'plantuml_url',
  }),
  terminal_max_session_time: count(
    0,
    {
      group: 'Limits',
      label: 'Longest terminal session (seconds)',
      meaning: '0: no limit.',
    },
    0,
  ),
  polling_interval_multiplier: {
    group: 'Limits',
    label: 'Polling interval multiplier',
    meaning:
      'Multiplies how long clients are told to wait between polls (Poll-Interval); 0 turns polling off.',
    default: 1,
    param: decimal({ minimum: 0, maximum: 1_000_000 }),
    shape: decimalNumber,
  },
  rsa_key_restriction: keys('RSA', [1024, 2048, 3072, 4096]),
  dsa_key_restriction: keys('DSA', [1024, 2048, 3072]),
  ecdsa_key_restriction: keys('ECDSA', [256, 384, 521]),
  ed25519_key_restriction: keys('Ed25519', [256]),
};

export const settingNames = Object.keys(fields) as SettingName[];

export const defaults: Settings = Object.freeze(
  Object.fromEntries(settingNames.map((name) => [name, fields[name].default])),
) as Settings;
