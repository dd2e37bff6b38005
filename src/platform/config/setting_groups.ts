/** Groups of the settings of the process, in the order in which documents and pages show them. */
import { backupFields } from './backups.ts';
import { blobFields } from './blobs.ts';
import type { ConfigName } from './fields.ts';
import { gitFields } from './git.ts';
import { mailFields } from './mail.ts';
import { operationsFields } from './operations.ts';
import { runnerFields } from './runner.ts';
import { tracingFields } from './tracing.ts';

export type SettingGroup = { title: string; names: readonly ConfigName[] };

const namesOf = <N extends ConfigName>(fields: { [name in N]: unknown }): N[] => Object.keys(fields) as N[];

/** Every setting is in one group. */
export const settingGroups: readonly SettingGroup[] = [
  {
    title: 'Service',
    names: ['data', 'listen', 'external_url', 'trusted_proxies', 'secrets_file', 'log_level', 'compat'],
  },
  { title: 'First start', names: ['root_password', 'root_token'] },
  { title: 'Database', names: ['database_url', 'database_schema', 'database_connections'] },
  { title: 'Sign-in', names: ['sign_in_providers'] },
  { title: 'Git over SSH', names: ['ssh_listen', 'ssh_external', 'ssh_proxy_protocol'] },
  { title: 'Repositories', names: ['default_branch', ...namesOf(gitFields)] },
  { title: 'Repository storages', names: ['repository_storages', 'gitd_secret', 'gitd_ca'] },
  { title: 'Artifacts and uploads in a bucket', names: namesOf(blobFields) },
  {
    title: 'CI/CD',
    names: ['artifact_limit', 'pipeline_limit', 'active_jobs_limit', 'ci_include_origins', 'registry'],
  },
  { title: 'Pages', names: ['image_proxy'] },
  { title: 'Built-in runner', names: namesOf(runnerFields) },
  { title: 'Mail', names: namesOf(mailFields) },
  { title: 'Backups and upgrades', names: namesOf(backupFields) },
  { title: 'Monitoring and stopping', names: namesOf(operationsFields) },
  { title: 'Traces', names: namesOf(tracingFields) },
];
