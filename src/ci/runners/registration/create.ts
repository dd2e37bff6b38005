import type { Call } from '../../../core/access/call.ts';
import { insertRow } from '../../../platform/db/insert.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { requireRecordQuota } from '../../../platform/db/quota.ts';
import { holdProject } from '../../../projects/projects/lock_project.ts';
import { type RunnerFacts, checkRunner, defaultFacts, parseTags } from '../rules.ts';
import { auditRunnerChange } from '../audit_runner_change.ts';
import { type RunnerToken, newRunnerToken } from './runner_token.ts';

/** The instance, group or project whose jobs a runner takes. */
export type RunnerOwner =
  | { runner_type: 'instance_type' }
  | { runner_type: 'group_type'; group_id: number }
  | { runner_type: 'project_type'; project_id: number };

type NewRunner = { owner: RunnerOwner; facts: Partial<RunnerFacts>; token: RunnerToken };

const attach = async (tx: Tx, runner_id: number, owner: RunnerOwner): Promise<void> => {
  if (owner.runner_type === 'group_type') {
    await tx.db.insertInto('runner_groups').values({ runner_id, namespace_id: owner.group_id }).execute();
  }
  if (owner.runner_type === 'project_type') {
    await tx.db.insertInto('runner_projects').values({ runner_id, project_id: owner.project_id }).execute();
  }
};

/** Maximum runners of one project, and of one group. */
const maxRunners = 1_000;

/**
 * Expects a locked project.
 * @throws Failure 400
 */
export const requireRoomInProject = async ({ db }: Tx, project_id: number): Promise<void> =>
  await requireRecordQuota(db.selectFrom('runner_projects').where('project_id', '=', project_id), {
    what: 'ci registered project runners',
    most: maxRunners,
  });

const checkRoom = async (tx: Tx, owner: RunnerOwner): Promise<void> => {
  if (owner.runner_type === 'project_type') {
    await holdProject(tx, owner.project_id);
    await requireRoomInProject(tx, owner.project_id);
  }
  if (owner.runner_type === 'group_type') {
    const there = tx.db.selectFrom('runner_groups').where('namespace_id', '=', owner.group_id);
    await requireRecordQuota(there, { what: 'ci registered group runners', most: maxRunners });
  }
};

/** Author of the change: a user, or nobody for a registration token. */
type Maker = Pick<Call, 'actor' | 'ip' | 'userAgent'>;

/**
 * @returns its id
 * @throws Failure 400 for invalid attributes
 */
export const insertRunner = async (
  tx: Tx,
  maker: Maker,
  { owner, facts: input, token }: NewRunner,
): Promise<number> => {
  const facts = { ...defaultFacts, ...input };
  checkRunner(facts);
  await checkRoom(tx, owner);
  const { token_hash, token_start } = token;
  const id = await insertRow(tx.db, 'runners', {
    ...facts,
    token_hash,
    token_start,
    runner_type: owner.runner_type,
    creator_id: maker.actor?.user.id ?? null,
    contacted_at: null,
    created_at: tx.now,
    updated_at: tx.now,
  });
  await attach(tx, id, owner);
  const { runner_type, ...ownerColumns } = owner;
  const project_id = owner.runner_type === 'project_type' ? { project_id: owner.project_id } : {};
  const { description } = facts;
  const details = { runner_type, ...ownerColumns, description, tag_list: parseTags(facts) };
  await auditRunnerChange(tx, maker, { kind: 'created', id, ...project_id, details });
  return id;
};

export type CreatedRunner = { id: number; token: string };

/** Creates a runner for a user; its token is returned only here. */
export const createRunner = async (
  call: Call,
  owner: RunnerOwner,
  facts: Partial<RunnerFacts>,
): Promise<CreatedRunner> => {
  const token = newRunnerToken(call.platform.random, 'glrt');
  const id = await call.write(async (tx) => await insertRunner(tx, call, { owner, facts, token }));
  return { id, token: token.text };
};
