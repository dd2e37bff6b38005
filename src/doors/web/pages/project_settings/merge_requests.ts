/** Settings of merge requests of a project: merge method and checks. */
import { checkbox, radios, select } from '../../parts/form.ts';
import type { Section, SettingsPage } from './settings_section.ts';

const methodSection: Section = {
  key: 'method',
  title: 'Merge method',
  names: ['merge_method', 'squash_option', 'remove_source_branch_after_merge'],
  saved: 'The merge method was saved.',
  fields: ({ text, isOn, problems }) => [
    radios({
      name: 'merge_method',
      label: 'How commits reach the target branch',
      value: text('merge_method'),
      problems,
      boxes: [
        { value: 'merge', label: 'Merge commit', hint: 'Every merge creates a merge commit.' },
        {
          value: 'rebase_merge',
          label: 'Merge commit with semi-linear history',
          hint: 'Every merge creates a merge commit. Only up-to-date branches can be merged; others must be rebased.',
        },
        {
          value: 'ff',
          label: 'Fast-forward merge',
          hint: 'No merge commits. Only up-to-date branches can be merged; others must be rebased.',
        },
      ],
    }),
    select({
      name: 'squash_option',
      label: 'Squash commits when merging',
      hint: 'Combines the commits of a merge request into one.',
      value: text('squash_option'),
      problems,
      options: [
        ['never', 'Never'],
        ['default_off', 'Allowed, off by default'],
        ['default_on', 'Allowed, on by default'],
        ['always', 'Always'],
      ],
    }),
    checkbox({
      name: 'remove_source_branch_after_merge',
      label: 'Delete the source branch by default',
      hint: 'Authors can change it for each merge request. Protected branches are never deleted.',
      checked: isOn('remove_source_branch_after_merge'),
      problems,
    }),
  ],
};

const checksSection: Section = {
  key: 'checks',
  title: 'Merge checks',
  intro: 'A merge request cannot be merged until these checks pass.',
  names: ['only_allow_merge_if_pipeline_succeeds', 'only_allow_merge_if_all_discussions_are_resolved'],
  saved: 'The merge checks were saved.',
  fields: ({ isOn, problems }) => [
    checkbox({
      name: 'only_allow_merge_if_pipeline_succeeds',
      label: 'Pipelines must succeed',
      hint: 'The last pipeline of the merge request must have passed.',
      checked: isOn('only_allow_merge_if_pipeline_succeeds'),
      problems,
    }),
    checkbox({
      name: 'only_allow_merge_if_all_discussions_are_resolved',
      label: 'All threads must be resolved',
      checked: isOn('only_allow_merge_if_all_discussions_are_resolved'),
      problems,
    }),
  ],
};

export const mergePage: SettingsPage = {
  noun: 'settings/merge_requests',
  title: 'Merge request settings',
  action: 'admin_project',
  sections: [methodSection, checksSection],
};
