/** Requests for the rows about pipelines. */
import { freshJob } from '../../makers/ci_makers.ts';
import type { Recipe } from '../recipes.ts';

const all = '/projects/:id/pipelines';
const one = `${all}/:pipeline_id`;
const held = '{of a protected branch}';

const done: Recipe = { makes: [freshJob({ status: 'success' })] };
const name = () => ({ name: 'Other' });

export const pipelineRecipes: Record<string, Recipe> = {
  // Among the newest, to be on the first page.
  [`GET ${all}`]: {
    makes: [freshJob({ status: 'canceled' })],
    query: 'per_page=100&status=canceled',
    holds: ({ id }, { pipeline_id }) => id === pipeline_id,
  },
  [`GET ${one}`]: done,
  [`GET ${one}/variables`]: done,
  'POST /projects/:id/pipeline': { body: () => ({ ref: 'none' }) },
  [`POST ${one}/cancel`]: { makes: [freshJob({ status: 'pending' })] },
  [`POST ${one}/cancel ${held}`]: { makes: [freshJob({ status: 'pending', held: true })] },
  [`POST ${one}/retry`]: { makes: [freshJob({ status: 'failed' })] },
  [`POST ${one}/retry ${held}`]: { makes: [freshJob({ status: 'failed', held: true })] },
  [`PUT ${one}/metadata`]: { ...done, body: name },
  [`PUT ${one}/metadata ${held}`]: { makes: [freshJob({ status: 'success', held: true })], body: name },
  [`DELETE ${one}`]: done,
};
