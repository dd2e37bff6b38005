import type { Call } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import { findRunnerByToken } from './find_by_token.ts';
import { type SeenRunner, findRunner, lockRunner } from './lists/queries.ts';
import { type RunnerFacts, type RunnerRow, checkRunner, parseTags } from './rules.ts';
import { auditRunnerChange } from './audit_runner_change.ts';
import { nextRunnerToken } from './registration/runner_token.ts';
import { forbidden } from '../../platform/errors.ts';

const shown = ({ tag_list, ...facts }: RunnerFacts) => ({ ...facts, tag_list: parseTags({ tag_list }) });

const getFacts = (row: RunnerRow): RunnerFacts => ({
  description: row.description,
  maintenance_note: row.maintenance_note,
  active: row.active,
  locked: row.locked,
  run_untagged: row.run_untagged,
  tag_list: row.tag_list,
  access_level: row.access_level,
  maximum_timeout: row.maximum_timeout,
});

/** @throws Failure 404, 403, 400 for invalid attributes */
export const updateRunner = async (
  call: Call,
  id: number,
  edit: Partial<RunnerFacts>,
): Promise<SeenRunner> => {
  await call.write(async (tx) => {
    const before = getFacts(await lockRunner(call, tx, id, 'edit'));
    const after = { ...before, ...edit };
    checkRunner(after);
    if (JSON.stringify(before) === JSON.stringify(after)) return;
    const set = { ...after, updated_at: tx.now };
    await tx.db.updateTable('runners').set(set).where('id', '=', id).execute();
    const details = { before: shown(before), after: shown(after) };
    await auditRunnerChange(tx, call, { kind: 'updated', id, details });
  });
  return await findRunner(call, id, 'see');
};

const remove = async (tx: Tx, call: Call, { id, runner_type, description }: RunnerRow): Promise<void> => {
  await tx.db.deleteFrom('runners').where('id', '=', id).execute();
  await auditRunnerChange(tx, call, { kind: 'unregistered', id, details: { runner_type, description } });
};

/** @throws Failure 404, 403 */
export const deleteRunner = async (call: Call, id: number): Promise<void> =>
  await call.write(async (tx) => await remove(tx, call, await lockRunner(call, tx, id, 'edit')));

const renew = async (tx: Tx, call: Call, runner: RunnerRow): Promise<string> => {
  const { text, token_hash, token_start } = nextRunnerToken(call.platform.random, runner);
  const set = { token_hash, token_start, updated_at: tx.now };
  await tx.db.updateTable('runners').set(set).where('id', '=', runner.id).execute();
  await auditRunnerChange(tx, call, { kind: 'token_reset', id: runner.id });
  return text;
};

/** @throws Failure 404, 403 */
export const resetToken = async (call: Call, id: number): Promise<string> =>
  await call.write(async (tx) => await renew(tx, call, await lockRunner(call, tx, id, 'edit')));

/* ---- operations of a runner on itself, by its token ---- */

const lockSelf = async (tx: Tx, token: string): Promise<RunnerRow> => {
  const runner = await findRunnerByToken(tx.db, token);
  if (runner === null) throw forbidden();
  return runner;
};

/** @throws Failure 403 */
export const deleteSelf = async (call: Call, token: string): Promise<void> =>
  await call.write(async (tx) => await remove(tx, call, await lockSelf(tx, token)));

/** @throws Failure 403 */
export const resetOwnToken = async (call: Call, token: string): Promise<string> =>
  await call.write(async (tx) => await renew(tx, call, await lockSelf(tx, token)));
