/** General settings of a project: name, description, visibility, features, path. */
import { may } from '../../../../core/access/may.ts';
import { findVisibilityProblem } from '../../../../core/settings/setting_effects.ts';
import { findGroupOrNull } from '../../../../identity/groups/find.ts';
import { isWider } from '../../../../identity/groups/rules.ts';
import { loadTopics } from '../../../../projects/projects/topics.ts';
import { advancedPart } from './advanced_section.ts';
import { avatarPart } from './avatar.ts';
import { checkboxControl, inputControl, textAreaControl, visibilityControl } from './controls.ts';
import { featureSection } from './features_section.ts';
import type { Section, SettingsPage } from './settings_section.ts';

const aboutSection: Section = {
  key: 'about',
  title: 'Name and description',
  names: ['name', 'description', 'topics', 'default_branch'],
  saved: 'The settings were saved.',
  load: async ({ db }, { id }) => ({ topics: await loadTopics(db, id) }),
  fields: ({ visit, project, text, problems }) => [
    may(visit.call.viewer, 'rename_project', project)
      ? inputControl({ name: 'name', label: 'Name', value: text('name'), required: true, problems })
      : null,
    textAreaControl({
      name: 'description',
      label: 'Description',
      value: text('description'),
      rows: 3,
      problems,
    }),
    inputControl({
      name: 'topics',
      label: 'Topics',
      hint: 'Separated by commas. Used in search and on topic pages.',
      value: text('topics'),
      problems,
    }),
    project.default_branch === null
      ? null
      : inputControl({
          name: 'default_branch',
          label: 'Default branch',
          hint: 'Shown first, checked out by clones, default target of merge requests.',
          value: text('default_branch'),
          required: true,
          problems,
        }),
  ],
};

const visibilitySection: Section = {
  key: 'visibility',
  title: 'Who can see the project',
  names: ['visibility'],
  saved: 'The visibility was saved.',
  action: 'change_visibility',
  fields: async ({ visit, project, text, problems }) => {
    // Null for a personal namespace, and for a group that the caller does not see.
    const group = await findGroupOrNull(visit.call, project.namespace_id);
    return [
      visibilityControl({
        value: text('visibility'),
        problems,
        limit: (visibility) => {
          if (group !== null && isWider(visibility, group.visibility))
            return `Not available: the group is ${group.visibility}.`;
          const isRestricted = findVisibilityProblem(visit.call, visibility) !== null;
          return isRestricted ? 'Not available: restricted by an administrator.' : null;
        },
      }),
    ];
  },
};

const mailSection: Section = {
  key: 'mail',
  title: 'E-mail',
  names: ['emails_enabled'],
  saved: 'The e-mail setting was saved.',
  fields: ({ isOn, problems }) => [
    checkboxControl({
      name: 'emails_enabled',
      label: 'Send mails about this project',
      hint: 'When off, nobody gets mail, regardless of notification level.',
      checked: isOn('emails_enabled'),
      problems,
    }),
  ],
};

const pathSection: Section = {
  key: 'path',
  title: 'Path',
  intro:
    'Changes the address of the project and of its repository. Old addresses redirect until another project uses the path. Image names of the container registry change, too.',
  names: ['path'],
  saved: 'The path was changed.',
  submit: 'Change path',
  action: 'rename_project',
  fields: ({ text, problems }) => [
    inputControl({ name: 'path', label: 'Path', value: text('path'), required: true, problems }),
  ],
};

export const generalPage: SettingsPage = {
  noun: 'settings',
  title: 'General settings',
  action: 'admin_project',
  sections: [aboutSection, visibilitySection, featureSection, mailSection, pathSection],
  second: avatarPart,
  more: advancedPart,
};
