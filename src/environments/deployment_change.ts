/** Deployments by hand: of what other programs bring to an environment. Those of jobs are `follow.ts`'s. */
import { type Call, actorOf, userOf } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { type Problems, forbidden, invalid, refused } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import type { Project } from '../projects/find.ts';
import type { Code } from '../repository/code.ts';
import { resolveRevision } from '../repository/resolve.ts';
import {
  type DeploymentRow,
  ensureEnvironment,
  findDeployment,
  insertDeployment,
  lastDeployment,
} from './queries.ts';
import { checkEnvironment } from './rules.ts';

export type DeploymentState = 'running' | 'success' | 'failed' | 'canceled';
export type NewDeployment = {
  environment: string;
  sha: string;
  ref: string;
  tag: boolean;
  status: DeploymentState;
};

const note = async (call: Call, tx: Tx, verb: string, row: DeploymentRow): Promise<void> =>
  await recordEvent(tx, actorOf(call), {
    kind: `deployment.${verb}`,
    project_id: row.project_id,
    target_type: 'Deployment',
    target_id: row.id,
    data: { environment_id: row.environment_id, status: row.status },
  });

/** The full id of the commit. */
const checkRevisions = async (code: Code, { sha, ref }: NewDeployment): Promise<string> => {
  const [commit, named] = await Promise.all([resolveRevision(code, sha), resolveRevision(code, ref)]);
  const problems: Problems = {
    ...(commit === null && { sha: ['The commit does not exist'] }),
    ...(named === null && { ref: ['The branch or tag does not exist'] }),
  };
  if (commit === null || named === null) throw invalid(problems);
  return commit.commit;
};

/** What is there is up again. */
const reopen = async (tx: Tx, environmentId: number): Promise<void> => {
  await tx.db
    .updateTable('environments')
    .set({ state: 'available', updated_at: tx.now })
    .where('id', '=', environmentId)
    .execute();
};

/** @throws Failure 400 for a commit or ref that is not there, or a name that may not be */
export const createDeployment = async (
  call: Call,
  code: Code,
  given: NewDeployment,
): Promise<DeploymentRow> => {
  checkEnvironment({ name: given.environment });
  const sha = await checkRevisions(code, given);
  const { ref, status } = given;
  return await call.write(async (tx) => {
    const environment = await ensureEnvironment(tx, code.project.id, { name: given.environment });
    const row = await insertDeployment(tx, {
      project_id: code.project.id,
      environment_id: environment.id,
      job_id: null,
      user_id: userOf(call).id,
      ref,
      tag: given.tag ? 1 : 0,
      sha,
      status,
    });
    if (status === 'success') await reopen(tx, environment.id);
    await note(call, tx, 'created', row);
    return row;
  });
};

const verbs: Record<DeploymentState, string> = {
  running: 'run',
  success: 'succeed',
  failed: 'drop',
  canceled: 'cancel',
};

const mayBecome = (before: DeploymentRow['status'], after: DeploymentState): boolean =>
  after === 'running' ? before === 'created' || before === 'blocked' : before !== after;

/** @throws Failure 404, 403 of one that a job does, 400 for a status that it cannot get */
export const updateDeployment = async (
  call: Call,
  project: Project,
  id: number,
  status: DeploymentState,
): Promise<DeploymentRow> =>
  await call.write(async (tx) => {
    const before = await findDeployment(tx.db, project.id, id);
    if (before.job_id !== null) throw forbidden();
    if (!mayBecome(before.status, status)) {
      throw invalid({ status: [`cannot transition via "${verbs[status]}"`] });
    }
    const finished_at = status === 'running' ? null : tx.now;
    const changed = { status, finished_at, updated_at: tx.now };
    await tx.db.updateTable('deployments').set(changed).where('id', '=', id).execute();
    if (status === 'success') await reopen(tx, before.environment_id);
    const row = { ...before, ...changed };
    await note(call, tx, 'updated', row);
    return row;
  });

/** @throws Failure 404, 400 of one that runs, or that is what is there now */
export const deleteDeployment = async (call: Call, project: Project, id: number): Promise<void> => {
  await call.write(async (tx) => {
    const row = await findDeployment(tx.db, project.id, id);
    if (row.status === 'running') throw refused('Cannot destroy running deployment');
    const last = await lastDeployment(tx.db, row.environment_id);
    if (last?.id === id) throw refused('Deployment currently deployed to environment');
    await tx.db.deleteFrom('deployments').where('id', '=', id).execute();
    await note(call, tx, 'deleted', row);
  });
};
