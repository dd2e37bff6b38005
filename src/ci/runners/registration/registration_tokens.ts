/** Registration tokens, which create runners of the instance, a group or a project. Stored as hashes. */
import { recordAudit } from '../../../core/access/audit.ts';
import { type Call, requireActor } from '../../../core/access/call.ts';
import { hashToken, generateTokenText } from '../../../core/access/credentials/token_text.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { forbidden } from '../../../platform/errors.ts';
import { countAttempt, requireFewFailures } from '../../../identity/sessions/sign_in_failures.ts';
import { getOrigin } from '../../../platform/addresses/client_origin.ts';
import { type CreatedRunner, type RunnerOwner, insertRunner } from './create.ts';
import type { RunnerFacts } from '../rules.ts';
import { newRunnerToken } from './runner_token.ts';

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

const getTarget = (owner: RunnerOwner) => {
  if (owner.runner_type === 'instance_type') return {};
  if (owner.runner_type === 'group_type') return { target_type: 'Namespace', target_id: owner.group_id };
  return { target_type: 'Project', target_id: owner.project_id };
};

/** Replaces the token; the old one becomes invalid. */
export const resetRegistrationToken = async (call: Call, owner: RunnerOwner): Promise<string> => {
  const text = generateTokenText(call.platform.random, 'gntrrt');
  await call.write(async (tx) => {
    await store(tx, owner, hashToken(text));
    const entry = { kind: 'runner.registration_token_reset', ...getTarget(owner) };
    await recordAudit(tx, requireActor(call), call, entry);
  });
  return text;
};

/** Finds the owner of a registration token; null for an unknown one. */
const findOwner = async (db: Reader, text: string): Promise<RunnerOwner | null> => {
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

/** Attempts of one address: high enough for a fleet that starts simultaneously, too low for guessing. */
const attemptsOfAddress = { max: 300, window: 60_000, isQuota: true };

/**
 * Counts an attempt in a transaction of its own, because an unknown token rolls the registration back.
 * @throws Failure 429
 */
const requireFewAttempts = async (call: Call): Promise<void> => {
  const names = [`registration ${getOrigin(call.ip)}`];
  // Most attempts that are refused need no transaction.
  await requireFewFailures(call.db, names, call.now);
  await call.write(async (tx) => await countAttempt(tx, names, attemptsOfAddress));
};

/**
 * Creates a runner for a program.
 * @throws Failure 403 for an unknown token, 400 for invalid attributes, 429 for too many attempts from one address
 */
export const registerRunner = async (
  call: Call,
  input: string,
  facts: Partial<RunnerFacts>,
): Promise<CreatedRunner> => {
  await requireFewAttempts(call);
  const token = newRunnerToken(call.platform.random, 'glrtr');
  const id = await call.write(async (tx) => {
    const owner = await findOwner(tx.db, input);
    if (owner === null) throw forbidden('invalid token supplied');
    return await insertRunner(tx, call, { owner, facts, token });
  });
  return { id, token: token.text };
};
