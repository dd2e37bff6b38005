/** Registration tokens: who has one makes runners of the instance, of a group or of a project. Stored as hashes. */
import { recordAudit } from '../access/audit.ts';
import { type Call, actorOf } from '../access/call.ts';
import { hashToken, newTokenText } from '../access/token_text.ts';
import type { Reader, Tx } from '../db/open.ts';
import { forbidden, tooOften } from '../errors.ts';
import { makePace } from '../http/pace.ts';
import { originOf } from '../sessions/attempts.ts';
import { type MadeRunner, type RunnerOwner, insertRunner } from './create.ts';
import type { RunnerFacts } from './rules.ts';
import { newRunnerToken } from './token.ts';

/** Its row of the table `instance`. */
const ofInstance = 'runners_token_hash';

const store = async (tx: Tx, owner: RunnerOwner, hash: string): Promise<void> => {
  if (owner.runner_type === 'instance_type') {
    await tx.db
      .insertInto('instance')
      .values({ name: ofInstance, value: hash })
      .onConflict((clash) => clash.column('name').doUpdateSet({ value: hash }))
      .execute();
    return;
  }
  const [table, id] =
    owner.runner_type === 'group_type'
      ? (['namespaces', owner.group_id] as const)
      : (['projects', owner.project_id] as const);
  await tx.db.updateTable(table).set({ runners_token_hash: hash }).where('id', '=', id).execute();
};

const targetOf = (owner: RunnerOwner) => {
  if (owner.runner_type === 'instance_type') return {};
  if (owner.runner_type === 'group_type') return { target_type: 'Namespace', target_id: owner.group_id };
  return { target_type: 'Project', target_id: owner.project_id };
};

/** The one before is no longer good. */
export const resetRegistrationToken = async (call: Call, owner: RunnerOwner): Promise<string> => {
  const text = newTokenText(call.platform.random, 'gntrrt');
  await call.write(async (tx) => {
    await store(tx, owner, hashToken(text));
    const told = { kind: 'runner.registration_token_reset', ...targetOf(owner) };
    await recordAudit(tx, actorOf(call), call, told);
  });
  return text;
};

/** Whose runners are registered with this token; null: it is none. */
const ownerOf = async (db: Reader, text: string): Promise<RunnerOwner | null> => {
  const hash = hashToken(text);
  const instance = await db
    .selectFrom('instance')
    .select('name')
    .where('name', '=', ofInstance)
    .where('value', '=', hash)
    .executeTakeFirst();
  if (instance !== undefined) return { runner_type: 'instance_type' };
  const project = await db
    .selectFrom('projects')
    .select('id')
    .where('runners_token_hash', '=', hash)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (project !== undefined) return { runner_type: 'project_type', project_id: project.id };
  const group = await db
    .selectFrom('namespaces')
    .select('id')
    .where('runners_token_hash', '=', hash)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return group === undefined ? null : { runner_type: 'group_type', group_id: group.id };
};

/** Of this process, from one address: a fleet that starts at once has time enough, who guesses has not. */
const attempts = makePace({ most: 300, within: 60_000 });

/**
 * Makes a runner for the program that asks.
 * @throws Failure 403 for a token that is none, 400 for what a runner cannot be, 429 for too many from one address
 */
export const registerRunner = async (
  call: Call,
  given: string,
  facts: Partial<RunnerFacts>,
): Promise<MadeRunner> => {
  if (attempts.count(originOf(call.ip), call.platform.clock.now())) throw tooOften(60);
  const token = newRunnerToken(call.platform.random, 'glrtr');
  const id = await call.write(async (tx) => {
    const owner = await ownerOf(tx.db, given);
    if (owner === null) throw forbidden('invalid token supplied');
    return await insertRunner(tx, call, { owner, facts, token });
  });
  return { id, token: token.text };
};
