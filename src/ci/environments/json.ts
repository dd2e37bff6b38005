import type { Call } from '../../core/access/call.ts';
import { anything, int, nullable, object, optional, string, timestamp } from '../../platform/http/schema.ts';
import type { Project } from '../../projects/projects/find.ts';
import { formatTime, formatTimeOrNull } from '../../platform/time.ts';
import { basicUser, basicUserShape, basicUsersById } from '../../identity/users/json.ts';
import type { DeploymentRow, EnvironmentRow } from './queries.ts';

/** Loads jobs as API records, by id. Passed in, because the jobs folder comes after environments in import order. */
export type LoadJobsById = (
  call: Call,
  project: Project,
  ids: readonly number[],
) => Promise<ReadonlyMap<number, object>>;

const basicFields = {
  id: int,
  name: string,
  slug: string,
  external_url: nullable(string),
  created_at: timestamp,
  updated_at: timestamp,
};

export const deploymentShape = object({
  id: int,
  iid: int,
  ref: string,
  sha: string,
  status: string,
  created_at: timestamp,
  updated_at: timestamp,
  user: nullable(basicUserShape),
  environment: object(basicFields),
  deployable: nullable(anything),
});

export const environmentShape = object({
  ...basicFields,
  state: string,
  tier: string,
  description: nullable(string),
  auto_stop_at: nullable(timestamp),
  last_deployment: optional(nullable(deploymentShape)),
});

const basicEnvironment = (row: EnvironmentRow) => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  external_url: row.external_url,
  created_at: formatTime(row.created_at),
  updated_at: formatTime(row.updated_at),
});

export const environmentJson = (row: EnvironmentRow) => ({
  ...basicEnvironment(row),
  state: row.state,
  tier: row.tier,
  description: row.description,
  auto_stop_at: formatTimeOrNull(row.auto_stop_at),
});

const withoutNulls = (ids: (number | null)[]): number[] => [...new Set(ids)].filter((id) => id !== null);

/** Converts deployments of a project, with their users and jobs. */
export const deploymentsJson = async (
  call: Call,
  project: Project,
  rows: readonly DeploymentRow[],
  loadJobs: LoadJobsById,
) => {
  if (rows.length === 0) return [];
  const { db } = call;
  const environments = await db
    .selectFrom('environments')
    .selectAll()
    .where('id', 'in', withoutNulls(rows.map((row) => row.environment_id)))
    .execute();
  const byId = new Map(environments.map((row) => [row.id, row]));
  const users = await basicUsersById(db, withoutNulls(rows.map((row) => row.user_id)));
  const jobs = await loadJobs(call, project, withoutNulls(rows.map((row) => row.job_id)));
  return rows.map((row) => {
    const environment = byId.get(row.environment_id);
    const user = users.get(row.user_id ?? 0);
    return {
      id: row.id,
      iid: row.iid,
      ref: row.ref,
      sha: row.sha,
      status: row.status,
      created_at: formatTime(row.created_at),
      updated_at: formatTime(row.updated_at),
      user: user === undefined ? null : basicUser(user, call),
      environment: environment === undefined ? null : basicEnvironment(environment),
      deployable: jobs.get(row.job_id ?? 0) ?? null,
    };
  });
};
