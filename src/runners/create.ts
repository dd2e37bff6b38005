import type { Call } from '../access/call.ts';
import { insertRow } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';
import { invalid } from '../errors.ts';
import { holdProject } from '../projects/hold.ts';
import { type RunnerFacts, checkRunner, freshFacts, tagsOf } from './rules.ts';
import { tellOfRunner } from './tell.ts';
import { type RunnerToken, newRunnerToken } from './token.ts';

/** Whose jobs a runner takes. */
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

/** Of one project, and of one group. */
const mostRunners = 1_000;

const countOf = async ({ db }: Tx, owner: Exclude<RunnerOwner, { runner_type: 'instance_type' }>) => {
  const { count } =
    owner.runner_type === 'group_type'
      ? await db
          .selectFrom('runner_groups')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where('namespace_id', '=', owner.group_id)
          .executeTakeFirstOrThrow()
      : await db
          .selectFrom('runner_projects')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where('project_id', '=', owner.project_id)
          .executeTakeFirstOrThrow();
  return count;
};

const checkRoom = async (tx: Tx, owner: RunnerOwner): Promise<void> => {
  if (owner.runner_type === 'instance_type' || (await countOf(tx, owner)) < mostRunners) return;
  const noun = owner.runner_type === 'group_type' ? 'group' : 'project';
  throw invalid({ base: [`Maximum number of ci registered ${noun} runners (${mostRunners}) exceeded`] });
};

/** Whoever makes it: a user, or nobody who is known. */
type Maker = Pick<Call, 'actor' | 'ip' | 'userAgent'>;

/**
 * @returns its id
 * @throws Failure 400 for what a runner cannot be
 */
export const insertRunner = async (
  tx: Tx,
  maker: Maker,
  { owner, facts: given, token }: NewRunner,
): Promise<number> => {
  const facts = { ...freshFacts, ...given };
  checkRunner(facts);
  if (owner.runner_type === 'project_type') await holdProject(tx, owner.project_id);
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
  const { runner_type, ...of } = owner;
  const project_id = owner.runner_type === 'project_type' ? { project_id: owner.project_id } : {};
  const { description } = facts;
  const details = { runner_type, ...of, description, tag_list: tagsOf(facts) };
  await tellOfRunner(tx, maker, { kind: 'created', id, ...project_id, details });
  return id;
};

export type MadeRunner = { id: number; token: string };

/** Makes a runner for a user; its token is told once. */
export const createRunner = async (
  call: Call,
  owner: RunnerOwner,
  facts: Partial<RunnerFacts>,
): Promise<MadeRunner> => {
  const token = newRunnerToken(call.platform.random, 'glrt');
  const id = await call.write(async (tx) => await insertRunner(tx, call, { owner, facts, token }));
  return { id, token: token.text };
};
