import { hash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Platform } from '../../../core/platform.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { type CreatedRunner, insertRunner } from './create.ts';
import { auditRunnerChange } from '../audit_runner_change.ts';
import { type RunnerToken, newRunnerToken } from './runner_token.ts';

/** Key of the row of the table `instance` that has the runner's id: one for each service that shares the database. */
const rowName = ({ config }: Platform): string => {
  const place = hash('sha256', `${hostname()}:${config.data}`, 'hex').slice(0, 16);
  return `built_in_runner_id ${place}`;
};

/** The service itself is the author of the change. */
const service = { actor: null, ip: '', userAgent: '' };

/** Gives the existing runner a new token; null if somebody has deleted it. */
const renewToken = async (
  tx: Tx,
  name: string,
  { token_hash, token_start }: RunnerToken,
): Promise<number | null> => {
  const row = await tx.db.selectFrom('instance').select('value').where('name', '=', name).executeTakeFirst();
  if (row === undefined) return null;
  const id = Number(row.value);
  const { numUpdatedRows } = await tx.db
    .updateTable('runners')
    .set({ token_hash, token_start, updated_at: tx.now })
    .where('id', '=', id)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return null;
  await auditRunnerChange(tx, service, { kind: 'token_reset', id });
  return id;
};

const made = async (tx: Tx, name: string, token: RunnerToken): Promise<number> => {
  const facts = { description: 'built-in runner' };
  const id = await insertRunner(tx, service, { owner: { runner_type: 'instance_type' }, facts, token });
  await tx.db
    .insertInto('instance')
    .values({ name, value: String(id) })
    .onConflict((clash) => clash.column('name').doUpdateSet({ value: String(id) }))
    .execute();
  return id;
};

/** Returns this service's built-in runner with a new token. Creates it at the first call. */
export const createBuiltInRunner = async (platform: Platform): Promise<CreatedRunner> => {
  const token = newRunnerToken(platform.random, 'glrt');
  const name = rowName(platform);
  const id = await platform.store.write(
    async (tx) => (await renewToken(tx, name, token)) ?? (await made(tx, name, token)),
  );
  return { id, token: token.text };
};
