/** The attributes of a group: parameters, columns and JSON. */
import type { Selectable } from 'kysely';
import type { Static } from 'typebox';
import { toFlag } from '../../platform/db/schema/column_types.ts';
import type { NamespacesTable } from '../../platform/db/schema/identity.ts';
import {
  bool,
  boolean,
  clearable,
  int,
  integer,
  nullable,
  object,
  oneOf,
  optional,
  string,
  text,
  unavailable,
} from '../../platform/http/schema.ts';
import { avatarParam } from '../avatars/store_avatar.ts';
import type { Settings } from '../../core/settings/fields.ts';
import { visibilities } from './rules.ts';

/** Boolean options. */
const flags = [
  'lfs_enabled',
  'request_access_enabled',
  'require_two_factor_authentication',
  'share_with_group_lock',
  'membership_lock',
  'emails_disabled',
  'mentions_disabled',
] as const;

type FlagName = (typeof flags)[number];

const mapFlags = <T>(value: T): { [N in FlagName]: T } =>
  Object.fromEntries(flags.map((name) => [name, value])) as { [N in FlagName]: T };

export const groupParams = {
  description: optional(text()),
  visibility: optional(oneOf(visibilities)),
  project_creation_level: optional(
    oneOf(['noone', 'owner', 'maintainer', 'developer', 'administrator'], {
      description: 'smallest role that may create projects in the group',
    }),
  ),
  subgroup_creation_level: optional(
    oneOf(['owner', 'maintainer'], { description: 'smallest role that may create subgroups' }),
  ),
  ...mapFlags(optional(boolean())),
  lfs_enabled: optional(boolean({ description: 'stored without effect: LFS is not supported' })),
  request_access_enabled: optional(
    boolean({ description: 'stored without effect: access requests are not supported' }),
  ),
  share_with_group_lock: optional(
    boolean({ description: 'prevent sharing of the group, its subgroups and their projects' }),
  ),
  emails_disabled: optional(
    boolean({ description: "disable notification mail for the group's projects, including subgroups" }),
  ),
  mentions_disabled: optional(
    boolean({ description: 'do not create to-do items for members when the group is mentioned' }),
  ),
  require_two_factor_authentication: optional(
    boolean({
      description:
        'members, including members of parent groups and subgroups, need a second factor to sign in',
    }),
  ),
  emails_enabled: optional(boolean({ description: 'the opposite of `emails_disabled`' })),
  two_factor_grace_period: optional(
    integer({
      minimum: 0,
      maximum: 2_147_483_647,
      description: 'grace period in hours to set up a second factor',
    }),
  ),
  default_branch_protection: optional(
    clearable(
      integer({
        minimum: 0,
        maximum: 4,
        description: 'protection of the first branch of new projects, as in the settings',
      }),
    ),
  ),
  default_branch: optional(
    clearable(text({ description: 'first branch of new projects that start with a README' })),
  ),
  auto_devops_enabled: optional(
    clearable(
      boolean({ description: 'stored without effect: pipelines are configured by `.gitlab-ci.yml`' }),
    ),
  ),
  shared_runners_setting: optional(
    oneOf(['enabled', 'disabled_and_overridable', 'disabled_and_unoverridable'], {
      aliases: { disabled_with_override: 'disabled_and_overridable' },
      description: "true: instance runners run jobs of the group's projects",
    }),
  ),
  avatar: avatarParam,
  prevent_forking_outside_group: unavailable(),
  prevent_sharing_groups_outside_hierarchy: unavailable(),
  shared_runners_minutes_limit: unavailable(),
  extra_shared_runners_minutes_limit: unavailable(),
  file_template_project_id: unavailable(),
  ip_restriction_ranges: unavailable(),
  wiki_access_level: unavailable(),
};

/** Parameters that are kept and shown, and have no effect. */
export const groupParamsWithoutEffect = [
  'lfs_enabled',
  'request_access_enabled',
  'auto_devops_enabled',
] as const;

const shape = object(groupParams);
type Params = Partial<Static<typeof shape>>;

const columns = [
  'description',
  'visibility',
  'project_creation_level',
  'subgroup_creation_level',
  'two_factor_grace_period',
  'default_branch_protection',
  'default_branch',
  'shared_runners_setting',
] as const;

/** Columns of a group that a client sets. */
export type GroupColumns = Partial<
  Pick<Selectable<NamespacesTable>, (typeof columns)[number] | FlagName | 'auto_devops_enabled' | 'avatar'>
>;

const emailsDisabled = ({ emails_disabled, emails_enabled }: Params): boolean | undefined =>
  emails_disabled ?? (emails_enabled === undefined ? undefined : !emails_enabled);

/** Returns the columns that the parameters set. */
export const groupColumns = (params: Params): GroupColumns => {
  const { auto_devops_enabled, default_branch } = params;
  const input = { ...params, emails_disabled: emailsDisabled(params) };
  const plain = columns.flatMap((name) => (params[name] === undefined ? [] : [[name, params[name]]]));
  const set = flags.flatMap((name) => (input[name] === undefined ? [] : [[name, toFlag(input[name])]]));
  return {
    ...Object.fromEntries([...plain, ...set]),
    ...(default_branch === '' && { default_branch: null }),
    ...(auto_devops_enabled !== undefined && {
      auto_devops_enabled: auto_devops_enabled === null ? null : toFlag(auto_devops_enabled),
    }),
  };
};

/** Returns the columns that change with the required second factor. */
export const requiredAt = (
  { require_two_factor_authentication: required }: GroupColumns,
  now: number,
): { two_factor_required_at?: number | null } =>
  required === undefined ? {} : { two_factor_required_at: required === 1 ? now : null };

export const groupOptionFields = {
  visibility: string,
  project_creation_level: string,
  subgroup_creation_level: string,
  ...mapFlags(bool),
  emails_enabled: bool,
  two_factor_grace_period: int,
  default_branch_protection: int,
  default_branch: nullable(string),
  auto_devops_enabled: nullable(bool),
  shared_runners_setting: string,
  wiki_access_level: string,
};

export const groupOptionsJson = (
  group: Selectable<NamespacesTable>,
  { default_branch_protection }: Settings,
) => ({
  visibility: group.visibility,
  project_creation_level: group.project_creation_level,
  subgroup_creation_level: group.subgroup_creation_level,
  ...(Object.fromEntries(flags.map((name) => [name, group[name] === 1])) as { [N in FlagName]: boolean }),
  emails_enabled: group.emails_disabled === 0,
  two_factor_grace_period: group.two_factor_grace_period,
  default_branch_protection: group.default_branch_protection ?? default_branch_protection,
  default_branch: group.default_branch,
  auto_devops_enabled: group.auto_devops_enabled === null ? null : group.auto_devops_enabled === 1,
  shared_runners_setting: group.shared_runners_setting,
  // Groups have no wiki here.
  wiki_access_level: 'disabled',
});
