/** The sections of the settings page of a group; each sets parameters of the API. */
import { uploadedAvatarUrl } from '../../../../identity/avatars/avatar_urls.ts';
import { findVisibilityProblem } from '../../../../core/settings/setting_effects.ts';
import type { Group } from '../../../../identity/groups/find.ts';
import { isWider } from '../../../../identity/groups/rules.ts';
import type { groupParams } from '../../../../identity/groups/fields.ts';
import type { Visit } from '../../page.ts';
import { avatar } from '../../parts/avatar.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { html } from '../../parts/html.ts';
import {
  type SectionPart,
  checkboxControl,
  inputControl,
  selectControl,
  textAreaControl,
  visibilityControl,
} from '../project_settings/controls.ts';
import { avatarInput } from '../../parts/fields/avatar_input.ts';

/** The values of the fields of a section: stored values, or refused input. */
export type Shown = {
  visit: Visit;
  group: Group;
  /** null if the group is at the top, or the visitor does not see its parent. */
  parent: Group | null;
  text: (name: string) => string;
  isOn: (name: string) => boolean;
  problems: FormProblems;
};

export type GroupSection = {
  /** Part of the address of the form, and anchor of the section. */
  key:
    | 'about'
    | 'avatar'
    | 'visibility'
    | 'permissions'
    | 'notifications'
    | 'two_factor'
    | 'repositories'
    | 'runners'
    | 'path';
  title: string;
  intro?: string;
  /** The parameters of the API that the form sets. */
  names: readonly (keyof typeof groupParams | 'name' | 'path')[];
  saved: string;
  submit?: string;
  hasFiles?: true;
  fields: (shown: Shown) => readonly SectionPart[];
};

const about: GroupSection = {
  key: 'about',
  title: 'Name and description',
  names: ['name', 'description'],
  saved: 'The settings were saved.',
  fields: ({ text, problems }) => [
    inputControl({ name: 'name', label: 'Name', value: text('name'), required: true, problems }),
    textAreaControl({
      name: 'description',
      label: 'Description',
      value: text('description'),
      rows: 3,
      problems,
    }),
  ],
};

const picture: GroupSection = {
  key: 'avatar',
  title: 'Avatar',
  names: ['avatar'],
  saved: 'The avatar was saved.',
  submit: 'Upload',
  hasFiles: true,
  fields: ({ visit, group, problems }) => [
    html`<div class="row">${avatar({ name: group.name, avatar_url: uploadedAvatarUrl(visit.call, 'group', group), size: 'large', isSquare: true })}<div>${avatarInput(problems)}</div></div>`,
  ],
};

const visibility: GroupSection = {
  key: 'visibility',
  title: 'Who can see the group',
  names: ['visibility'],
  saved: 'The visibility was saved.',
  fields: ({ visit, parent, text, problems }) => [
    visibilityControl({
      value: text('visibility'),
      problems,
      limit: (one) => {
        if (parent !== null && isWider(one, parent.visibility))
          return `Not available: the parent group is ${parent.visibility}.`;
        const isRestricted = findVisibilityProblem(visit.call, one) !== null;
        return isRestricted ? 'Not available: restricted by an administrator.' : null;
      },
    }),
  ],
};

/** `noone` and `administrator` have the same effect: administrators are exempt. Offers the stored value. */
const administratorsOnly = (stored: string) =>
  [stored === 'noone' ? 'noone' : 'administrator', 'Administrators of the instance'] as const;

const permissions: GroupSection = {
  key: 'permissions',
  title: 'Permissions',
  names: ['project_creation_level', 'subgroup_creation_level', 'membership_lock', 'share_with_group_lock'],
  saved: 'The permissions were saved.',
  fields: ({ text, isOn, problems }) => [
    selectControl({
      name: 'project_creation_level',
      label: 'Roles that may create projects',
      value: text('project_creation_level'),
      options: [
        ['developer', 'Developers, maintainers and owners'],
        ['maintainer', 'Maintainers and owners'],
        ['owner', 'Owners'],
        administratorsOnly(text('project_creation_level')),
      ],
      problems,
    }),
    selectControl({
      name: 'subgroup_creation_level',
      label: 'Roles that may create subgroups',
      value: text('subgroup_creation_level'),
      options: [
        ['maintainer', 'Maintainers and owners'],
        ['owner', 'Owners'],
      ],
      problems,
    }),
    checkboxControl({
      name: 'membership_lock',
      label: 'Prevent adding members to projects',
      hint: 'Only members of the group have access to its projects.',
      checked: isOn('membership_lock'),
      problems,
    }),
    checkboxControl({
      name: 'share_with_group_lock',
      label: 'Prevent sharing with other groups',
      hint: 'Applies to the group, its subgroups and their projects.',
      checked: isOn('share_with_group_lock'),
      problems,
    }),
  ],
};

const notifications: GroupSection = {
  key: 'notifications',
  title: 'E-mail and mentions',
  names: ['emails_disabled', 'mentions_disabled'],
  saved: 'The settings of e-mail and mentions were saved.',
  fields: ({ isOn, problems }) => [
    checkboxControl({
      name: 'emails_disabled',
      label: 'Disable notification mails',
      hint: 'Nobody gets mail about projects of this group and its subgroups, regardless of notification level.',
      checked: isOn('emails_disabled'),
      problems,
    }),
    checkboxControl({
      name: 'mentions_disabled',
      label: 'Disable mentions of the group',
      hint: 'Mentioning the group does not notify its members.',
      checked: isOn('mentions_disabled'),
      problems,
    }),
  ],
};

const twoFactor: GroupSection = {
  key: 'two_factor',
  title: 'Two-factor sign-in',
  names: ['require_two_factor_authentication', 'two_factor_grace_period'],
  saved: 'The two-factor settings were saved.',
  fields: ({ text, isOn, problems }) => [
    checkboxControl({
      name: 'require_two_factor_authentication',
      label: 'Members need a second factor to sign in',
      hint: 'Includes members of parent groups and subgroups.',
      checked: isOn('require_two_factor_authentication'),
      problems,
    }),
    inputControl({
      name: 'two_factor_grace_period',
      label: 'Grace period (hours)',
      hint: 'Time that members have to set it up.',
      type: 'number',
      min: 0,
      value: text('two_factor_grace_period'),
      problems,
    }),
  ],
};

const repositories: GroupSection = {
  key: 'repositories',
  title: 'New repositories',
  intro: 'Defaults for new projects in this group. Subgroups can override them.',
  names: ['default_branch', 'default_branch_protection'],
  saved: 'The settings of new repositories were saved.',
  fields: ({ text, problems }) => [
    inputControl({
      name: 'default_branch',
      label: 'Default branch',
      hint: 'Name of the first branch. Default: inherited from the parent group or the instance.',
      value: text('default_branch'),
      problems,
    }),
    selectControl({
      name: 'default_branch_protection',
      label: 'Protection of the default branch',
      value: text('default_branch_protection'),
      options: [
        ['', 'As in the parent group, or on the instance'],
        ['0', 'None: developers and maintainers may push and force-push'],
        ['1', 'Developers can push; nobody can force-push'],
        ['2', 'Only maintainers may push and merge'],
        ['3', 'Only maintainers may push; developers may merge'],
        ['4', 'Only maintainers may push; developers may push the first commit'],
      ],
      problems,
    }),
  ],
};

const runners: GroupSection = {
  key: 'runners',
  title: 'Instance runners',
  names: ['shared_runners_setting'],
  saved: 'The runner settings were saved.',
  fields: ({ text, problems }) => [
    selectControl({
      name: 'shared_runners_setting',
      label: 'Instance runners for projects in this group',
      hint: 'Disabling applies to all projects and subgroups.',
      value: text('shared_runners_setting'),
      options: [
        ['enabled', 'Enabled'],
        ['disabled_and_overridable', 'Disabled, subgroups and projects can enable'],
        ['disabled_and_unoverridable', 'Disabled, cannot be overridden'],
      ],
      problems,
    }),
  ],
};

const path: GroupSection = {
  key: 'path',
  title: 'Path',
  intro:
    'Changes the address of the group and of everything in it. Old addresses redirect until another group uses the path.',
  names: ['path'],
  saved: 'The path was changed.',
  submit: 'Change path',
  fields: ({ text, problems }) => [
    inputControl({ name: 'path', label: 'Path', value: text('path'), required: true, problems }),
  ],
};

export const groupSections: readonly GroupSection[] = [
  about,
  picture,
  visibility,
  permissions,
  notifications,
  twoFactor,
  repositories,
  runners,
  path,
];
