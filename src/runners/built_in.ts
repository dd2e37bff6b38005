import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Platform } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { type MadeRunner, insertRunner } from './create.ts';
import { tellOfRunner } from './tell.ts';
import { type RunnerToken, newRunnerToken } from './token.ts';

/** The row of the table `instance` that tells its id: one for each service that shares the database. */
const rowName = ({ config }: Platform): string => {
  const place = createHash('sha256').update(`${hostname()}:${config.data}`).digest('hex').slice(0, 16);
  return `built_in_runner_id ${place}`;
};

/** Nobody asked for it: the service itself did. */
const service = { actor: null, ip: '', userAgent: '' };

/** The runner that was made before, if nobody has deleted it: it gets the new token. */
const renewed = async (
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
  await tellOfRunner(tx, service, { kind: 'token_reset', id });
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

/** The runner of the instance that comes with this service, with a new token; made at the first call. */
export const createBuiltInRunner = async (platform: Platform): Promise<MadeRunner> => {
  const token = newRunnerToken(platform.random, 'glrt');
  const name = rowName(platform);
  const id = await platform.store.write(
    async (tx) => (await renewed(tx, name, token)) ?? (await made(tx, name, token)),
  );
  return { id, token: token.text };
};
