/** Row types of the tables of environments and deployments; conventions as in `database.ts`. */
import type { Flag, Id } from './column_types.ts';

export type EnvironmentsTable = {
  id: Id;
  project_id: number;
  name: string;
  slug: string;
  external_url: string | null;
  state: 'available' | 'stopping' | 'stopped';
  tier: string;
  description: string | null;
  auto_stop_at: number | null;
  created_at: number;
  updated_at: number;
};

export type DeploymentsTable = {
  id: Id;
  iid: number;
  project_id: number;
  environment_id: number;
  job_id: number | null;
  user_id: number | null;
  ref: string;
  tag: Flag;
  sha: string;
  status: 'created' | 'running' | 'success' | 'failed' | 'canceled' | 'skipped' | 'blocked';
  created_at: number;
  updated_at: number;
  finished_at: number | null;
};

/** Merge requests that a successful deployment delivered to its environment. */
export type DeploymentMergeRequestsTable = {
  merge_request_id: number;
  deployment_id: number;
};
