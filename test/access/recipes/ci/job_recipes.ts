/** Requests for the rows about jobs. */
import { freshJob } from '../../makers/ci_makers.ts';
import type { Recipe } from '../recipes.ts';

const job = '/projects/:id/jobs/:job_id';
const ofPipeline = '/projects/:id/pipelines/:pipeline_id';

const held = '{of a protected branch}';
const starter = '{that starts a pipeline}';

const done: Recipe = { makes: [freshJob({ status: 'success' })] };
const holds: NonNullable<Recipe['holds']> = ({ id }, { job_id }) => id === job_id;

export const jobRecipes: Record<string, Recipe> = {
  // Among the newest, to be on the first page.
  'GET /projects/:id/jobs': {
    makes: [freshJob({ status: 'skipped' })],
    query: 'per_page=100&scope=skipped',
    holds,
  },
  [`GET ${ofPipeline}/jobs`]: { ...done, holds },
  [`GET ${ofPipeline}/bridges`]: { makes: [freshJob({ status: 'success', bridge: true })], holds },
  [`GET ${job}`]: done,
  [`POST ${job}/cancel`]: { makes: [freshJob({ status: 'pending' })] },
  [`POST ${job}/cancel ${held}`]: { makes: [freshJob({ status: 'pending', held: true })] },
  [`POST ${job}/cancel ${starter}`]: { makes: [freshJob({ status: 'pending', bridge: true })] },
  [`POST ${job}/retry ${starter}`]: { makes: [freshJob({ status: 'failed', bridge: true })] },
  [`POST ${job}/play ${starter}`]: {
    makes: [freshJob({ status: 'manual', manual: true, bridge: true })],
  },
  [`POST ${job}/retry`]: { makes: [freshJob({ status: 'failed' })] },
  [`POST ${job}/retry ${held}`]: { makes: [freshJob({ status: 'failed', held: true })] },
  [`POST ${job}/play`]: { makes: [freshJob({ status: 'manual', manual: true })] },
  [`POST ${job}/play ${held}`]: { makes: [freshJob({ status: 'manual', manual: true, held: true })] },
};
