import type { Call } from '../access/call.ts';
import { anything, int, nullable, object, optional, string, timestamp } from '../http/schema.ts';
import type { Project } from '../projects/find.ts';
import { formatTime } from '../time.ts';
import { basicUser, basicUserShape, basicUsersById } from '../users/json.ts';
import type { DeploymentRow, EnvironmentRow } from './queries.ts';

/** Jobs as the API shows them, by id: whoever mounts the endpoints hands it, for jobs stand behind environments. */
export type ShowJobs = (
  call: Call,
  project: Project,
  ids: readonly number[],
) => Promise<ReadonlyMap<number, object>>;

const basics = {
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
  environment: object(basics),
  deployable: nullable(anything),
});

export const environmentShape = object({
  ...basics,
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
  auto_stop_at: row.auto_stop_at === null ? null : formatTime(row.auto_stop_at),
});

const present = (ids: (number | null)[]): number[] => [...new Set(ids)].filter((id) => id !== null);

/** Deployments of a project, with who did them and the jobs that did. */
export const deploymentsJson = async (
  call: Call,
  project: Project,
  rows: readonly DeploymentRow[],
  showJobs: ShowJobs,
) => {
  if (rows.length === 0) return [];
  const { db } = call;
  const environments = await db
    .selectFrom('environments')
    .selectAll()
    .where('id', 'in', present(rows.map((row) => row.environment_id)))
    .execute();
  const byId = new Map(environments.map((row) => [row.id, row]));
  const users = await basicUsersById(db, present(rows.map((row) => row.user_id)));
  const jobs = await showJobs(call, project, present(rows.map((row) => row.job_id)));
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
