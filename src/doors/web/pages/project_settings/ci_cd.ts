/** CI/CD settings of a project: pipelines, jobs and artifacts. */
import { badgeAddressesPart } from './badge_addresses.ts';
import { checkboxControl, inputControl, selectControl } from './controls.ts';
import type { Section, SettingsPage } from './settings_section.ts';

const pipelineSection: Section = {
  key: 'pipelines',
  title: 'Pipelines',
  names: ['ci_config_path', 'auto_cancel_pending_pipelines', 'public_builds'],
  saved: 'The pipeline settings were saved.',
  fields: ({ text, isOn, problems }) => [
    inputControl({
      name: 'ci_config_path',
      label: 'Configuration file',
      hint: 'Path in the repository. Default: .gitlab-ci.yml.',
      value: text('ci_config_path'),
      problems,
    }),
    selectControl({
      name: 'auto_cancel_pending_pipelines',
      label: 'After a new push to the same branch',
      value: text('auto_cancel_pending_pipelines'),
      problems,
      options: [
        ['enabled', 'Cancel older pipelines that can be interrupted'],
        ['disabled', 'Let older pipelines finish'],
      ],
    }),
    checkboxControl({
      name: 'public_builds',
      label: 'Public pipelines',
      hint: 'Everyone who can see the project can see its pipelines and job logs. Otherwise only reporters and above can.',
      checked: isOn('public_builds'),
      problems,
    }),
  ],
};

const jobSection: Section = {
  key: 'jobs',
  title: 'Jobs',
  names: ['build_timeout', 'ci_default_git_depth', 'shared_runners_enabled', 'group_runners_enabled'],
  saved: 'The job settings were saved.',
  fields: ({ text, isOn, problems }) => [
    inputControl({
      name: 'build_timeout',
      label: 'Timeout in seconds',
      hint: 'Between 600 (10 minutes) and 2592000 (30 days). Longer jobs fail.',
      type: 'number',
      min: 600,
      max: 2_592_000,
      step: 1,
      value: text('build_timeout'),
      required: true,
      problems,
    }),
    inputControl({
      name: 'ci_default_git_depth',
      label: 'Git clone depth',
      hint: 'Number of commits that jobs fetch. 0 fetches the whole history.',
      type: 'number',
      min: 0,
      max: 1_000,
      step: 1,
      value: text('ci_default_git_depth'),
      required: true,
      problems,
    }),
    checkboxControl({
      name: 'shared_runners_enabled',
      label: 'Instance runners',
      hint: 'Instance runners can run jobs of this project.',
      checked: isOn('shared_runners_enabled'),
      problems,
    }),
    checkboxControl({
      name: 'group_runners_enabled',
      label: 'Group runners',
      hint: 'Runners of the groups above may take jobs of this project.',
      checked: isOn('group_runners_enabled'),
      problems,
    }),
  ],
};

const artifactSection: Section = {
  key: 'artifacts',
  title: 'Artifacts',
  names: ['keep_latest_artifact', 'max_artifacts_size'],
  saved: 'The artifact settings were saved.',
  fields: ({ visit, text, isOn, problems }) => [
    checkboxControl({
      name: 'keep_latest_artifact',
      label: 'Keep artifacts of the latest successful jobs',
      hint: 'They do not expire while they are the latest of their branch or tag.',
      checked: isOn('keep_latest_artifact'),
      problems,
    }),
    visit.call.admin
      ? inputControl({
          name: 'max_artifacts_size',
          label: 'Maximum size of one artifact in megabytes',
          hint: 'Only administrators see this. Default: the limit of the group or the instance.',
          type: 'number',
          min: 1,
          max: 80_000,
          step: 1,
          value: text('max_artifacts_size'),
          problems,
        })
      : null,
  ],
};

export const ciPage: SettingsPage = {
  noun: 'settings/ci_cd',
  title: 'CI/CD settings',
  action: 'admin_project',
  sections: [pipelineSection, jobSection, artifactSection],
  more: badgeAddressesPart,
};
