/** Links a successful deployment with the merge requests that it brought to its environment. */
import { sql } from 'kysely';
import type { Platform } from '../../../core/platform.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import { loadProject } from '../../../projects/projects/find.ts';
import { enqueue } from '../../../platform/queue/enqueue.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import type { DeploymentRow } from '../queries.ts';
import { linkWork } from '../work_names.ts';

const commitsPerPage = 1_000;
/** A deployment of more commits is linked with the merge requests of the newest of them. */
const maxCommits = 50_000;

export const enqueueLinks = async (tx: Tx, deploymentId: number): Promise<void> =>
  await enqueue(tx, linkWork, { deployment_id: deploymentId });

/** Removes the links of a deployment that is no longer successful. */
export const removeLinks = async (tx: Tx, deploymentId: number): Promise<void> => {
  await tx.db.deleteFrom('deployment_merge_requests').where('deployment_id', '=', deploymentId).execute();
};

/** Returns whether deployments to an environment are linked. Those to review apps, such as `review/topic`, are not. */
const isLinkable = ({ name, tier }: { name: string; tier: string }): boolean =>
  !name.includes('/') || tier === 'production' || tier === 'staging';

const loadSuccessfulDeployment = (db: Reader, id: number) =>
  db
    .selectFrom('deployments')
    .innerJoin('environments', 'environments.id', 'deployments.environment_id')
    .selectAll('deployments')
    .select(['environments.name', 'environments.tier'])
    .where('deployments.id', '=', id)
    .where('deployments.status', '=', 'success')
    .executeTakeFirst();

const loadPreviousDeployment = (db: Reader, { id, environment_id }: DeploymentRow) =>
  db
    .selectFrom('deployments')
    .select('sha')
    .where('environment_id', '=', environment_id)
    .where('status', '=', 'success')
    .where('id', '<', id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

/** Lists the merge requests merged into the branch. Used for the first deployment to an environment. */
const listMergedInto = async (db: Reader, { project_id, ref, tag }: DeploymentRow): Promise<number[]> => {
  if (tag === 1) return [];
  const rows = await db
    .selectFrom('merge_requests')
    .select('id')
    .where('project_id', '=', project_id)
    .where('state', '=', 'merged')
    .where('target_branch', '=', ref)
    .execute();
  return rows.map(({ id }) => id);
};

const listMergedByCommits = async (
  db: Reader,
  projectId: number,
  shas: readonly string[],
): Promise<number[]> => {
  if (shas.length === 0) return [];
  const ids = sql.join(shas);
  const { rows } = await sql<{ id: number }>`
    select id from merge_requests where project_id = ${projectId} and merge_commit_sha in (${ids})
    union
    select id from merge_requests where project_id = ${projectId} and squash_commit_sha in (${ids})`.execute(
    db,
  );
  return rows.map(({ id }) => id);
};

/** Lists the merge requests whose merge commits are in the deployment and not in the previous one. */
const listMergedSince = async (
  platform: Platform,
  { project_id, sha }: DeploymentRow,
  before: string,
): Promise<number[]> => {
  const { db } = platform.store;
  const project = await loadProject(db, project_id);
  if (project === null) return [];
  const repository = getRepository(platform, project);
  const requestIds = new Set<number>();
  for (let skip = 0; skip < maxCommits; skip += commitsPerPage) {
    const range = { from: [sha], not: [before], skip, limit: commitsPerPage };
    const { commits } = await repository.ask('commits.list', range);
    const shas = commits.map(({ id }) => id);
    for (const id of await listMergedByCommits(db, project_id, shas)) requestIds.add(id);
    if (commits.length < commitsPerPage) break;
  }
  return [...requestIds];
};

const listDeployedRequests = async (platform: Platform, deployment: DeploymentRow): Promise<number[]> => {
  const { db } = platform.store;
  const previous = await loadPreviousDeployment(db, deployment);
  if (previous === undefined) return await listMergedInto(db, deployment);
  try {
    return await listMergedSince(platform, deployment, previous.sha);
  } catch (error) {
    // A commit is gone from the repository.
    if (isGitFailure(error, 'missing')) return [];
    throw error;
  }
};

const rowsPerStatement = 500;

/** Stores the links of a deployment. A second run adds nothing. */
export const linkDeployment = async (platform: Platform, id: number): Promise<void> => {
  const { store } = platform;
  const deployment = await loadSuccessfulDeployment(store.db, id);
  if (deployment === undefined || !isLinkable(deployment)) return;
  const ids = await listDeployedRequests(platform, deployment);
  await store.write(async (tx) => {
    if ((await loadSuccessfulDeployment(tx.db, id)) === undefined) return;
    for (let at = 0; at < ids.length; at += rowsPerStatement) {
      const some = ids.slice(at, at + rowsPerStatement);
      await sql`insert into deployment_merge_requests (merge_request_id, deployment_id)
        select id, ${id} from merge_requests where id in (${sql.join(some)})
        on conflict do nothing`.execute(tx.db);
    }
  });
};
