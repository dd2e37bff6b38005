/** Settings of merge requests of a project: merge method and checks. */
import { checkboxControl, radiosControl, selectControl, textAreaControl } from './controls.ts';
import type { Section, SettingsPage } from './settings_section.ts';

const methodSection: Section = {
  key: 'method',
  title: 'Merge method',
  names: [
    'merge_method',
    'squash_option',
    'remove_source_branch_after_merge',
    'autoclose_referenced_issues',
    'printing_merge_request_link_enabled',
  ],
  saved: 'The merge method was saved.',
  fields: ({ text, isOn, problems }) => [
    radiosControl({
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
    selectControl({
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
    checkboxControl({
      name: 'remove_source_branch_after_merge',
      label: 'Delete the source branch by default',
      hint: 'Authors can change it for each merge request. Protected branches are never deleted.',
      checked: isOn('remove_source_branch_after_merge'),
      problems,
    }),
    checkboxControl({
      name: 'autoclose_referenced_issues',
      label: 'Close referenced issues automatically',
      hint: 'Issues of this project close when a commit or merge request with “Closes #1” reaches the default branch.',
      checked: isOn('autoclose_referenced_issues'),
      problems,
    }),
    checkboxControl({
      name: 'printing_merge_request_link_enabled',
      label: 'Show a link to the merge request after a push',
      checked: isOn('printing_merge_request_link_enabled'),
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
    checkboxControl({
      name: 'only_allow_merge_if_pipeline_succeeds',
      label: 'Pipelines must succeed',
      hint: 'The last pipeline of the merge request must have passed.',
      checked: isOn('only_allow_merge_if_pipeline_succeeds'),
      problems,
    }),
    checkboxControl({
      name: 'only_allow_merge_if_all_discussions_are_resolved',
      label: 'All threads must be resolved',
      checked: isOn('only_allow_merge_if_all_discussions_are_resolved'),
      problems,
    }),
  ],
};

const messageSection: Section = {
  key: 'messages',
  title: 'Commit messages',
  intro: 'Templates with variables. Default: the standard message. The message can be edited at the merge.',
  names: ['merge_commit_template', 'squash_commit_template', 'suggestion_commit_message'],
  saved: 'The commit messages were saved.',
  fields: ({ text, problems }) => [
    textAreaControl({
      name: 'merge_commit_template',
      label: 'Merge commits',
      hint: '%{source_branch}, %{target_branch}, %{title}, %{description}, %{issues}, %{reference}, %{local_reference}, %{url}, %{first_commit}, %{first_multiline_commit}, %{all_commits}, %{approved_by}, %{reviewed_by}, %{merged_by}, %{merge_request_author}, %{co_authored_by}, %{source_project_id}',
      value: text('merge_commit_template'),
      rows: 5,
      problems,
    }),
    textAreaControl({
      name: 'squash_commit_template',
      label: 'Squash commits',
      hint: 'The same variables. Default: %{title}',
      value: text('squash_commit_template'),
      rows: 3,
      problems,
    }),
    textAreaControl({
      name: 'suggestion_commit_message',
      label: 'Applied suggestions',
      hint: '%{suggestions_count}, %{files_count}, %{file_paths}, %{branch_name}, %{project_name}, %{project_path}, %{user_full_name}, %{username}',
      value: text('suggestion_commit_message'),
      rows: 2,
      problems,
    }),
  ],
};

export const mergePage: SettingsPage = {
  noun: 'settings/merge_requests',
  title: 'Merge request settings',
  action: 'admin_project',
  sections: [methodSection, checksSection, messageSection],
};
