/** Tables of pipelines, jobs and runners. */
import {
  author,
  cleared,
  endedStatus,
  environmentState,
  ofProject,
  optionalRowOf,
  optionalUser,
  rowOf,
  zero,
} from '../column_rules.ts';
import {
  type TableSpec,
  project,
  ofTable,
} from './table_spec.ts';

export const ciTables: readonly TableSpec[] = [
  {
    name: 'pipeline_schedules',
    where: project,
    columns: {
      project_id: ofProject,
      owner_id: optionalUser,
      active: zero,
      next_run_at: cleared,
      last_pipeline_id: cleared,
    },
    later: { last_pipeline_id: 'pipelines' },
  },
  {
    name: 'pipeline_schedule_variables',
    where: ofTable('schedule_id', 'pipeline_schedules'),
    columns: { schedule_id: rowOf('pipeline_schedules') },
    isSealed: true,
  },
  {
    name: 'environments',
    where: project,
    columns: { project_id: ofProject, state: environmentState, auto_stop_at: cleared },
  },
  { name: 'resource_groups', where: project, columns: { project_id: ofProject, job_id: cleared } },
  { name: 'job_configs', where: project, columns: { project_id: ofProject } },
  {
    name: 'pipelines',
    where: project,
    columns: {
      project_id: ofProject,
      status: endedStatus,
      user_id: optionalUser,
      merge_request_id: optionalRowOf('merge_requests'),
      source_pipeline_id: cleared,
      source_job_id: cleared,
      root_id: cleared,
      schedule_id: optionalRowOf('pipeline_schedules'),
    },
    later: { source_pipeline_id: 'pipelines', source_job_id: 'jobs', root_id: 'pipelines' },
  },
  {
    name: 'pipeline_variables',
    where: ofTable('pipeline_id', 'pipelines'),
    columns: { pipeline_id: rowOf('pipelines') },
    isSealed: true,
  },
  {
    name: 'stages',
    where: ofTable('pipeline_id', 'pipelines'),
    columns: { pipeline_id: rowOf('pipelines'), status: endedStatus },
  },
  {
    name: 'jobs',
    where: project,
    columns: {
      project_id: ofProject,
      pipeline_id: rowOf('pipelines'),
      stage_id: rowOf('stages'),
      status: endedStatus,
      retry_of_id: cleared,
      mirrored_pipeline_id: cleared,
      user_id: optionalUser,
      runner_id: cleared,
      config_id: rowOf('job_configs'),
      token_hash: cleared,
      erased_by_id: optionalUser,
    },
    later: { retry_of_id: 'jobs', mirrored_pipeline_id: 'pipelines' },
  },
  {
    name: 'job_dependencies',
    where: ofTable('job_id', 'jobs'),
    columns: { job_id: rowOf('jobs'), dependency_id: rowOf('jobs') },
  },
  { name: 'job_needs', where: ofTable('job_id', 'jobs'), columns: { job_id: rowOf('jobs') } },
  {
    name: 'job_variables',
    where: ofTable('job_id', 'jobs'),
    columns: { job_id: rowOf('jobs') },
    isSealed: true,
  },
  { name: 'artifacts', where: project, columns: { project_id: ofProject, job_id: rowOf('jobs') } },
  {
    name: 'deployments',
    where: project,
    columns: {
      project_id: ofProject,
      environment_id: rowOf('environments'),
      job_id: optionalRowOf('jobs'),
      user_id: optionalUser,
      status: endedStatus,
    },
  },
  {
    name: 'deployment_merge_requests',
    where: ofTable('deployment_id', 'deployments'),
    columns: { merge_request_id: rowOf('merge_requests'), deployment_id: rowOf('deployments') },
  },
  {
    name: 'commit_statuses',
    where: project,
    columns: { project_id: ofProject, author_id: author, pipeline_id: optionalRowOf('pipelines') },
  },
  {
    name: 'variables',
    where: "source_type = 'Project' and source_id = ?1",
    columns: { source_id: ofProject },
    isSealed: true,
  },
];
