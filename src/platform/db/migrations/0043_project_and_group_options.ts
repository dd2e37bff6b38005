import type { MigrationText } from '../ddl_keywords.ts';

/** Access levels of more features, project topics, group options. */
export const projectAndGroupOptions: MigrationText = {
  name: '0043_project_and_group_options',
  statements: ({ text, integer, end }) => {
    const addLevel = (name: string): string =>
      `alter table projects add column ${name} ${text} not null default 'enabled'`;
    const addOption = (column: string): string => `alter table namespaces add column ${column}`;
    const flag = (value: 0 | 1): string => `${integer} not null default ${value}`;
    return [
      addLevel('forking_access_level'),
      addLevel('releases_access_level'),
      addLevel('environments_access_level'),
      addLevel('container_registry_access_level'),
      "update projects set container_registry_access_level = 'disabled' where container_registry_enabled = 0",
      'alter table projects drop column container_registry_enabled',
      // Neither feature exists here.
      'alter table projects drop column lfs_enabled',
      'alter table projects drop column wiki_access_level',

      `create table project_topics (
        project_id ${integer} not null references projects (id) on delete cascade,
        position ${integer} not null,
        name ${text} not null,
        folded_name ${text} not null,
        primary key (project_id, position)
      ) ${end}`,
      'create unique index project_topics_name on project_topics (folded_name, project_id)',

      addOption(`project_creation_level ${text} not null default 'maintainer'`),
      addOption(`subgroup_creation_level ${text} not null default 'owner'`),
      addOption(`require_two_factor_authentication ${flag(0)}`),
      addOption(`two_factor_grace_period ${integer} not null default 48`),
      // null: the instance's setting.
      addOption(`default_branch_protection ${integer}`),
      addOption(`default_branch ${text}`),
      addOption(`share_with_group_lock ${flag(0)}`),
      addOption(`membership_lock ${flag(0)}`),
      addOption(`emails_disabled ${flag(0)}`),
      addOption(`mentions_disabled ${flag(0)}`),
      addOption(`auto_devops_enabled ${integer}`),
      addOption(`shared_runners_setting ${text} not null default 'enabled'`),
    ];
  },
};
