/** The sections of the settings page of a group; each sets parameters of the API. */
import { uploadedAvatarUrl } from '../../../../identity/avatars/avatar_urls.ts';
import { findVisibilityProblem } from '../../../../core/settings/setting_effects.ts';
import type { Group } from '../../../../identity/groups/find.ts';
import { isWider } from '../../../../identity/groups/rules.ts';
import type { groupParams } from '../../../../identity/groups/fields.ts';
import type { Visit } from '../../page.ts';
import { avatar } from '../../parts/avatar.ts';
import { type FormProblems, checkbox, fileInput, input, select, textArea } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { visibilityChoice } from '../../parts/visibility.ts';

/** The values of the fields of a section: stored ones, or refused input. */
export type Shown = {
  visit: Visit;
  group: Group;
  /** null: the group is at the top, or the visitor does not see its parent. */
  parent: Group | null;
  text: (name: string) => string;
  isOn: (name: string) => boolean;
  problems: FormProblems;
};

export type GroupSection = {
  /** Part of the address of the form, and anchor of the section. */
  key: 'about' | 'avatar' | 'visibility' | 'permissions' | 'two_factor' | 'repositories' | 'runners' | 'path';
  title: string;
  intro?: string;
  /** The parameters of the API that the form sets. */
  names: readonly (keyof typeof groupParams | 'name' | 'path')[];
  saved: string;
  submit?: string;
  hasFiles?: true;
  fields: (shown: Shown) => readonly Html[];
};

const about: GroupSection = {
  key: 'about',
  title: 'Name and description',
  names: ['name', 'description'],
  saved: 'The settings are saved.',
  fields: ({ text, problems }) => [
    input({ name: 'name', label: 'Name', value: text('name'), required: true, problems }),
    textArea({ name: 'description', label: 'Description', value: text('description'), rows: 3, problems }),
  ],
};

const picture: GroupSection = {
  key: 'avatar',
  title: 'Avatar',
  names: ['avatar'],
  saved: 'The avatar is saved.',
  submit: 'Upload',
  hasFiles: true,
  fields: ({ visit, group, problems }) => [
    html`<p>${avatar({ name: group.name, avatar_url: uploadedAvatarUrl(visit.call, 'group', group), size: 'large', isSquare: true })}</p>`,
    fileInput({
      name: 'avatar',
      label: 'Picture',
      hint: 'PNG, JPEG, GIF, WebP or ICO of at most 200 KiB.',
      accept: 'image/png,image/jpeg,image/gif,image/webp,image/x-icon',
      required: true,
      problems,
    }),
  ],
};

const visibility: GroupSection = {
  key: 'visibility',
  title: 'Who can see the group',
  names: ['visibility'],
  saved: 'The visibility is saved.',
  fields: ({ visit, parent, text, problems }) => [
    visibilityChoice({
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

const permissions: GroupSection = {
  key: 'permissions',
  title: 'Who can create and be added',
  names: ['project_creation_level', 'subgroup_creation_level', 'membership_lock'],
  saved: 'The permissions are saved.',
  fields: ({ text, isOn, problems }) => [
    select({
      name: 'project_creation_level',
      label: 'Roles that may create projects',
      value: text('project_creation_level'),
      options: [
        ['developer', 'Developers, maintainers and owners'],
        ['maintainer', 'Maintainers and owners'],
        ['owner', 'Owners'],
        ['administrator', 'Administrators of the instance'],
        ['noone', 'Nobody but administrators of the instance'],
      ],
      problems,
    }),
    select({
      name: 'subgroup_creation_level',
      label: 'Roles that may create subgroups',
      value: text('subgroup_creation_level'),
      options: [
        ['maintainer', 'Maintainers and owners'],
        ['owner', 'Owners'],
      ],
      problems,
    }),
    checkbox({
      name: 'membership_lock',
      label: 'Projects of the group have no members of their own',
      hint: 'Only members of the group get access to its projects.',
      checked: isOn('membership_lock'),
      problems,
    }),
  ],
};

const twoFactor: GroupSection = {
  key: 'two_factor',
  title: 'Two-factor sign-in',
  names: ['require_two_factor_authentication', 'two_factor_grace_period'],
  saved: 'The settings of sign-in are saved.',
  fields: ({ text, isOn, problems }) => [
    checkbox({
      name: 'require_two_factor_authentication',
      label: 'Members need a second factor to sign in',
      hint: 'Also members of the groups above and below.',
      checked: isOn('require_two_factor_authentication'),
      problems,
    }),
    input({
      name: 'two_factor_grace_period',
      label: 'Hours that members have to set it up',
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
  intro: 'For projects that are created in the group, or in a group below that sets nothing else.',
  names: ['default_branch', 'default_branch_protection'],
  saved: 'The settings of new repositories are saved.',
  fields: ({ text, problems }) => [
    input({
      name: 'default_branch',
      label: 'Default branch',
      hint: 'Name of the first branch. Empty: that of the group above, or of the instance.',
      value: text('default_branch'),
      problems,
    }),
    select({
      name: 'default_branch_protection',
      label: 'Protection of the default branch',
      value: text('default_branch_protection'),
      options: [
        ['', 'As the group above, or the instance'],
        ['0', 'None: developers and maintainers may push and force push'],
        ['1', 'Developers may push, nobody may force push'],
        ['2', 'Maintainers alone may push and merge'],
        ['3', 'Maintainers alone may push, developers may merge'],
        ['4', 'Maintainers alone may push; developers may push the first commit'],
      ],
      problems,
    }),
  ],
};

const runners: GroupSection = {
  key: 'runners',
  title: 'Runners of the instance',
  names: ['shared_runners_setting'],
  saved: 'The setting of runners is saved.',
  fields: ({ text, problems }) => [
    select({
      name: 'shared_runners_setting',
      label: 'Jobs of projects in the group',
      hint: 'Disabling turns them off in all projects and groups below.',
      value: text('shared_runners_setting'),
      options: [
        ['enabled', 'May run on runners of the instance'],
        ['disabled_and_overridable', 'May not, unless a project or subgroup enables it'],
        ['disabled_and_unoverridable', 'May not'],
      ],
      problems,
    }),
  ],
};

const path: GroupSection = {
  key: 'path',
  title: 'Path',
  intro:
    'Changes the address of the group and of everything in it. Old addresses lead to the new ones until another group takes them.',
  names: ['path'],
  saved: 'The path is changed.',
  submit: 'Change path',
  fields: ({ text, problems }) => [
    input({ name: 'path', label: 'Path', value: text('path'), required: true, problems }),
  ],
};

export const groupSections: readonly GroupSection[] = [
  about,
  picture,
  visibility,
  permissions,
  twoFactor,
  repositories,
  runners,
  path,
];
