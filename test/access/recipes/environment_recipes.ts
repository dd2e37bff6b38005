/** Requests for the rows about environments, deployments, resource groups and test reports. */
import { unique } from '../../support/seed.ts';
import { freshJob } from '../makers/ci_makers.ts';
import { type Maker, nameAll, projectOf } from '../makers/makers.ts';
import type { Recipe } from './recipes.ts';
import { insertAll } from '../makers/bulk_rows.ts';

const environment =
  (state: 'available' | 'stopped'): Maker =>
  async (tx, cells) => {
    const titles = cells.map(() => unique('environment'));
    const rows = cells.map((cell, at) => ({
      project_id: projectOf(cell),
      name: titles[at] ?? '',
      slug: 'made',
      external_url: null,
      state,
      tier: 'other',
      description: null,
      auto_stop_at: null,
      created_at: tx.now,
      updated_at: tx.now,
    }));
    nameAll(cells, 'environment_id', await insertAll(tx, 'environments', rows));
    nameAll(cells, 'environment_name', titles);
  };

let deployments = 0;

/** A deployment by an external program that has failed and may be deleted. */
const deployment: Maker = async (tx, cells) => {
  const rows = cells.map((cell) => ({
    // Far from the ids that the service assigns.
    iid: 1_000_000 + (deployments += 1),
    project_id: projectOf(cell),
    environment_id: Number(cell.names['environment_id']),
    job_id: null,
    user_id: null,
    ref: 'main',
    tag: 0 as const,
    sha: '1'.repeat(40),
    status: 'failed' as const,
    created_at: tx.now,
    updated_at: tx.now,
    finished_at: tx.now,
  }));
  nameAll(cells, 'deployment_id', await insertAll(tx, 'deployments', rows));
};

const resourceGroup: Maker = async (tx, cells) => {
  const keys = cells.map(() => unique('group'));
  const rows = cells.map((cell, at) => ({
    project_id: projectOf(cell),
    key: keys[at] ?? '',
    job_id: Number(cell.names['job_id'] ?? 0) || null,
    created_at: tx.now,
    updated_at: tx.now,
  }));
  nameAll(cells, 'resource_group_id', await insertAll(tx, 'resource_groups', rows));
  nameAll(cells, 'key', keys);
};

const holds =
  (key: string): NonNullable<Recipe['holds']> =>
  ({ id }, names) =>
    id === names[key];

const environments = '/projects/:id/environments';
const one = `${environments}/:environment_id`;
const all = '/projects/:id/deployments';
const groups = '/projects/:id/resource_groups';
const pipeline = '/projects/:id/pipelines/:pipeline_id';

const available: Recipe = { makes: [environment('available')] };
const deployed: Recipe = { makes: [environment('available'), deployment] };

export const environmentRecipes: Record<string, Recipe> = {
  [`GET ${environments}`]: { ...available, query: 'name=:environment_name', holds: holds('environment_id') },
  [`GET ${one}`]: available,
  [`POST ${environments}`]: { body: () => ({ name: unique('made') }) },
  [`PUT ${one}`]: { ...available, body: () => ({ description: 'Other' }) },
  [`DELETE ${one}`]: { makes: [environment('stopped')] },
  [`POST ${one}/stop`]: available,
  [`GET ${all}`]: { ...deployed, query: 'environment=:environment_name', holds: holds('deployment_id') },
  [`GET ${all}/:deployment_id`]: deployed,
  [`GET ${all}/:deployment_id/merge_requests`]: deployed,
  [`POST ${all}`]: {
    body: ({ sha }) => ({
      environment: unique('made'),
      sha,
      ref: sha,
      tag: false,
      status: 'running',
    }),
  },
  [`PUT ${all}/:deployment_id`]: { ...deployed, body: () => ({ status: 'canceled' }) },
  [`DELETE ${all}/:deployment_id`]: deployed,
  [`GET ${pipeline}/test_report`]: { makes: [freshJob({ status: 'success' })] },
  [`GET ${pipeline}/test_report_summary`]: { makes: [freshJob({ status: 'success' })] },
  [`GET ${groups}`]: { makes: [resourceGroup], query: 'per_page=100', holds: holds('resource_group_id') },
  [`GET ${groups}/:key`]: { makes: [resourceGroup] },
  [`GET ${groups}/:key/upcoming_jobs`]: { makes: [resourceGroup] },
  [`GET ${groups}/:key/current_job`]: { makes: [freshJob({ status: 'pending' }), resourceGroup] },
  [`PUT ${groups}/:key`]: { makes: [resourceGroup], body: () => ({ process_mode: 'oldest_first' }) },
};
