/**
 * Every setting of the instance: parameter, default and meaning. The API, the type `Settings`, the administrators'
 * page and the documentation derive from this list.
 */
import {
  clearable,
  decimal,
  decimalNumber,
  longText,
  nullable,
  oneOf,
  string,
} from '../../platform/http/schema.ts';
import { checks } from './value_checks.ts';
import {
  count,
  domains,
  flag,
  keys,
  levels,
  list,
  positive,
  setting,
  url,
  visibility,
  visibilityChoices,
} from './field_kinds.ts';

export const fields = {
  default_projects_limit: count(
    100_000,
    {
      group: 'Accounts',
      label: 'Projects a new user may have',
      meaning: 'Maximum number of personal projects of a new user; existing users keep their limit.',
    },
    0,
  ),
  signup_enabled: flag(true, {
    group: 'Sign-up',
    label: 'Sign-up',
    meaning: 'Allow anyone to sign up.',
  }),
  password_authentication_enabled: flag(true, {
    group: 'Sign-in',
    label: 'Sign-in with a password',
    meaning: 'Accept passwords on the sign-in page, for OAuth password grants and for git over HTTP.',
    alias: 'signin_enabled',
  }),
  avatar_service_enabled: flag(true, {
    group: 'Pages',
    label: 'Gravatar',
    meaning:
      'Return an address at gravatar.com as `avatar_url` of users without a picture. Pages show initials instead.',
    alias: 'gravatar_enabled',
  }),
  sign_in_text: setting<string | null>({
    group: 'Sign-in',
    label: 'Text on the sign-in page',
    meaning: 'Shown next to the sign-in form.',
    default: null,
    param: clearable(longText()),
    shape: nullable(string),
    normalize: (value) => (value === null || value.trim() === '' ? null : value),
  }),
  home_page_url: url({
    group: 'Pages',
    label: 'Home page',
    meaning: 'Address to which / redirects visitors who are not signed in.',
  }),
  default_branch_protection: levels(
    2,
    [
      [0, 'None'],
      [1, 'Developers may push, not force-push or delete'],
      [2, 'Only maintainers may push'],
    ],
    {
      group: 'Repositories',
      label: 'Protection of the default branch',
      meaning: 'Applies when the first branch of a repository is pushed.',
    },
  ),
  restricted_visibility_levels: setting({
    ...list([], {
      group: 'Visibility',
      label: 'Restricted visibility levels',
      meaning: 'Levels that only administrators may set for projects, groups and snippets.',
    }),
    check: checks.visibilityLevels,
    choices: visibilityChoices,
  }),
  max_attachment_size: positive(10, {
    group: 'Limits',
    label: 'Largest attachment (MB)',
    meaning: 'Maximum size of an uploaded file, in megabytes.',
  }),
  session_expire_delay: count(
    10_080,
    {
      group: 'Sign-in',
      label: 'Idle session (minutes)',
      meaning: 'Idle session timeout in minutes; 0 disables it.',
    },
    0,
  ),
  default_project_visibility: visibility({
    group: 'Visibility',
    label: 'Visibility of new projects',
    meaning: 'Used for new projects that specify no visibility.',
  }),
  default_snippet_visibility: visibility({
    group: 'Visibility',
    label: 'Visibility of new snippets',
    meaning: 'Used for new snippets that specify no visibility.',
  }),
  default_group_visibility: visibility({
    group: 'Visibility',
    label: 'Visibility of new groups',
    meaning: 'Used for new groups that specify no visibility.',
  }),
  domain_whitelist: list(
    [],
    {
      group: 'Sign-up',
      label: 'E-mail domains that may sign up',
      meaning: 'Empty: any domain. *.example.com matches all subdomains.',
    },
    domains,
  ),
  domain_blacklist_enabled: flag(false, {
    group: 'Sign-up',
    label: 'Refuse e-mail domains',
    meaning: 'Apply the list of refused e-mail domains.',
    needs: 'domain_blacklist',
  }),
  domain_blacklist: list(
    [],
    {
      group: 'Sign-up',
      label: 'E-mail domains that are refused',
      meaning: '*.example.com matches all subdomains.',
    },
    domains,
  ),
  user_oauth_applications: flag(true, {
    group: 'Sign-in',
    label: 'User applications',
    meaning: 'Allow users to register applications that use this service as an OAuth provider.',
  }),
  after_sign_out_path: setting({
    ...url({
      group: 'Pages',
      label: 'After sign-out',
      meaning: 'Address, or path of this service, to which a sign-out redirects; empty: the sign-in page.',
    }),
    check: checks.urlOrPath,
  }),
  container_registry_token_expire_delay: positive(5, {
    group: 'Limits',
    label: 'Registry token lifetime (minutes)',
    meaning: 'Lifetime of a token for the container registry, in minutes.',
  }),
  repository_storages: setting({
    ...list(['default'], {
      group: 'Repositories',
      label: 'Repository storages',
      meaning: 'Each new project is stored in one of these, chosen at random.',
    }),
    check: checks.storages,
    choices: ({ repository_storages }) => repository_storages.map((name) => [name, name]),
  }),
  enabled_git_access_protocol: setting<'ssh' | 'http' | null>({
    group: 'Repositories',
    label: 'Git protocol',
    meaning: 'Allow clone and push only by ssh or by http. Empty: both.',
    default: null,
    param: clearable(oneOf(['ssh', 'http', 'nil'])),
    shape: nullable(string),
    normalize: (value) => ((value as string | null) === 'nil' ? null : value),
    choices: () => [
      ['', 'SSH and HTTP'],
      ['ssh', 'Only SSH'],
      ['http', 'Only HTTP'],
    ],
  }),
  ide_enabled: flag(false, {
    group: 'Tools',
    label: 'Web IDE',
    meaning: 'Show a link that opens a project in the IDE.',
    alias: 'koding_enabled',
    needs: 'ide_url',
  }),
  ide_url: url({
    group: 'Tools',
    label: 'Address of the IDE',
    meaning: 'URL of the IDE.',
    alias: 'koding_url',
  }),
  disabled_oauth_sign_in_sources: setting({
    ...list([], {
      group: 'Sign-in',
      label: 'Disabled sign-in sources',
      meaning: 'Providers that cannot be used to sign in. Names that are not configured are kept, too.',
    }),
    choices: ({ sign_in_sources }) => sign_in_sources.map((name) => [name, name]),
  }),
  diagram_enabled: flag(false, {
    group: 'Tools',
    label: 'Diagrams',
    meaning: 'Show diagrams rendered by the diagram service.',
    alias: 'plantuml_enabled',
    needs: 'diagram_url',
  }),
  diagram_url: url({
    group: 'Tools',
    label: 'Address of the diagram service',
    meaning: 'URL of the diagram service.',
    alias: 'plantuml_url',
  }),
  terminal_max_session_time: count(
    0,
    {
      group: 'Limits',
      label: 'Longest terminal session (seconds)',
      meaning: 'Stored and returned for clients; this service has no web terminal. 0: no limit.',
    },
    0,
  ),
  polling_interval_multiplier: setting<number>({
    group: 'Limits',
    label: 'Polling interval multiplier',
    meaning: 'Multiplies the interval between polls of clients (Poll-Interval); 0 disables polling.',
    default: 1,
    param: decimal({ minimum: 0, maximum: 1_000_000 }),
    shape: decimalNumber,
  }),
  rsa_key_restriction: keys('RSA', [1024, 2048, 3072, 4096]),
  dsa_key_restriction: keys('DSA', [1024, 2048, 3072]),
  ecdsa_key_restriction: keys('ECDSA', [256, 384, 521]),
  ed25519_key_restriction: keys('Ed25519', [256]),
  allow_local_requests_from_hooks_and_services: flag(false, {
    group: 'Outgoing requests',
    label: 'Requests to the local network',
    meaning: 'Allow webhooks and imports to reach this machine and private networks.',
    alias: 'allow_local_requests_from_web_hooks_and_services',
  }),
  outbound_local_requests_whitelist: list(
    [],
    {
      group: 'Outgoing requests',
      label: 'Local hosts that webhooks and imports may reach',
      meaning: 'Host names (also name:port), IP addresses and subnets such as 10.0.0.0/8.',
    },
    domains,
  ),
};

export type SettingName = keyof typeof fields;

/** Values of all settings, typed by the fields above. */
export type Settings = { [N in SettingName]: (typeof fields)[N]['default'] };

export const settingNames = Object.keys(fields) as SettingName[];

export const defaults: Settings = Object.freeze(
  Object.fromEntries(settingNames.map((name) => [name, fields[name].default])),
) as Settings;
