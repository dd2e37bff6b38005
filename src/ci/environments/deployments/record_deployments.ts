/** Records deployments by external programs. Deployments by jobs are in `follow_jobs.ts`. */
import { type Call, requireActor, requireUser } from '../../../core/access/call.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { toFlag } from '../../../platform/db/schema/column_types.ts';
import { type Problems, forbidden, invalid, refused } from '../../../platform/errors.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import type { Project } from '../../../projects/projects/find.ts';
import type { Code } from '../../../code/repository/find_code.ts';
import { resolveRevision } from '../../../code/repository/refs/resolve.ts';
import { enqueueLinks, removeLinks } from './link_merge_requests.ts';
import {
  type DeploymentRow,
  ensureEnvironment,
  findDeployment,
  insertDeployment,
  loadLastDeployment,
} from '../queries.ts';
import { checkEnvironment } from '../rules.ts';

export type DeploymentState = 'running' | 'success' | 'failed' | 'canceled';
export type NewDeployment = {
  environment: string;
  sha: string;
  ref: string;
  tag: boolean;
  status: DeploymentState;
};

const recordDeploymentEvent = async (call: Call, tx: Tx, verb: string, row: DeploymentRow): Promise<void> =>
  await recordEvent(tx, requireActor(call), {
    kind: `deployment.${verb}`,
    project_id: row.project_id,
    target_type: 'Deployment',
    target_id: row.id,
    data: { environment_id: row.environment_id, status: row.status },
  });

/** Checks commit and ref, and returns the full id of the commit. */
const checkRevisions = async (code: Code, { sha, ref }: NewDeployment): Promise<string> => {
  const [commit, refRevision] = await Promise.all([resolveRevision(code, sha), resolveRevision(code, ref)]);
  const problems: Problems = {
    ...(commit === null && { sha: ['The commit does not exist'] }),
    ...(refRevision === null && { ref: ['The branch or tag does not exist'] }),
  };
  if (commit === null || refRevision === null) throw invalid(problems);
  return commit.commit;
};

/** Marks an environment as available after a successful deployment. */
const markAvailable = async (tx: Tx, environmentId: number): Promise<void> => {
  await tx.db
    .updateTable('environments')
    .set({ state: 'available', updated_at: tx.now })
    .where('id', '=', environmentId)
    .execute();
};

/** @throws Failure 400 for a missing commit or ref, or an invalid environment name */
export const createDeployment = async (
  call: Call,
  code: Code,
  input: NewDeployment,
): Promise<DeploymentRow> => {
  checkEnvironment({ name: input.environment });
  const sha = await checkRevisions(code, input);
  const { ref, status } = input;
  return await call.write(async (tx) => {
    const environment = await ensureEnvironment(tx, code.project.id, { name: input.environment });
    const row = await insertDeployment(tx, {
      project_id: code.project.id,
      environment_id: environment.id,
      job_id: null,
      user_id: requireUser(call).id,
      ref,
      tag: toFlag(input.tag),
      sha,
      status,
    });
    if (status === 'success') {
      await markAvailable(tx, environment.id);
      await enqueueLinks(tx, row.id);
    }
    await recordDeploymentEvent(call, tx, 'created', row);
    return row;
  });
};

const transitionNames: Record<DeploymentState, string> = {
  running: 'run',
  success: 'succeed',
  failed: 'drop',
  canceled: 'cancel',
};

const canTransition = (before: DeploymentRow['status'], after: DeploymentState): boolean =>
  after === 'running' ? before === 'created' || before === 'blocked' : before !== after;

/** @throws Failure 404, 403 for a deployment by a job, 400 for a transition that is not allowed */
export const updateDeployment = async (
  call: Call,
  project: Project,
  id: number,
  status: DeploymentState,
): Promise<DeploymentRow> =>
  await call.write(async (tx) => {
    const before = await findDeployment(tx.db, project.id, id);
    if (before.job_id !== null) throw forbidden();
    if (!canTransition(before.status, status)) {
      throw invalid({ status: [`cannot transition via "${transitionNames[status]}"`] });
    }
    const finished_at = status === 'running' ? null : tx.now;
    const changed = { status, finished_at, updated_at: tx.now };
    await tx.db.updateTable('deployments').set(changed).where('id', '=', id).execute();
    await removeLinks(tx, id);
    if (status === 'success') {
      await markAvailable(tx, before.environment_id);
      await enqueueLinks(tx, id);
    }
    const row = { ...before, ...changed };
    await recordDeploymentEvent(call, tx, 'updated', row);
    return row;
  });

/** @throws Failure 404, 400 if the deployment is running, or is the current one of its environment */
export const deleteDeployment = async (call: Call, project: Project, id: number): Promise<void> => {
  await call.write(async (tx) => {
    const row = await findDeployment(tx.db, project.id, id);
    if (row.status === 'running') throw refused('Cannot destroy running deployment');
    const newest = await loadLastDeployment(tx.db, row.environment_id);
    if (newest?.id === id) throw refused('Deployment currently deployed to environment');
    await tx.db.deleteFrom('deployments').where('id', '=', id).execute();
    await recordDeploymentEvent(call, tx, 'deleted', row);
  });
};
