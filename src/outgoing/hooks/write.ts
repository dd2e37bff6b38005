/** Creates, changes and deletes hooks of any owner. Secrets are never logged. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { type Call, requireActor } from '../../core/access/call.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import type { Tx } from '../../platform/db/open.ts';
import { requireRecordQuota } from '../../platform/db/quota.ts';
import { enqueue } from '../../platform/queue/enqueue.ts';
import { type HookEdit, defaultFlags, keepOwnFlags, readHookUpdate, readNewHook } from './hook_columns.ts';
import { type HookOwner, lockOwner, ownerColumns, selectOwnHooks } from './owners.ts';
import { type HookRow, findHook, loadIntegrationHook } from './queries.ts';
import { lockPause } from './pause_lock.ts';
import { hooksTopic, resumeWork } from './topic.ts';

const quotas = {
  project: { what: 'project hooks', most: 1_000 },
  group: { what: 'group hooks', most: 1_000 },
  instance: { what: 'system hooks', most: 1_000 },
};

/** Invalidates every process's hook cache. Must run in the transaction that changes the hooks. */
const raiseVersion = async (tx: Tx): Promise<void> => {
  tx.broadcast(hooksTopic);
  await tx.db
    .updateTable('instance')
    .set({ value: sql<string>`cast(cast(value as bigint) + 1 as text)` })
    .where('name', '=', 'hooks_version')
    .execute();
};

const recordHookEvent = async (
  call: Call,
  tx: Tx,
  verb: string,
  row: Pick<HookRow, 'id' | 'project_id' | 'group_id'>,
) =>
  await recordEvent(tx, requireActor(call), {
    kind: `hook.${verb}`,
    project_id: row.project_id,
    target_type: 'Hook',
    target_id: row.id,
    ...(row.group_id !== null && { data: { group_id: row.group_id } }),
  });

/**
 * @param integration slug of the integration that the hook is; null: an ordinary hook
 * @returns null if the project has this integration already
 * @throws Failure 422 for an invalid URL, template, token, header or variable; 400 for too many hooks
 */
const insertHook = async (
  call: Call,
  owner: HookOwner,
  input: HookEdit & { url: string },
  integration: string | null,
): Promise<HookRow | null> => {
  const edit = { ...keepOwnFlags(owner, input), url: input.url };
  const columns = readNewHook(call, edit);
  return await call.write(async (tx) => {
    await lockOwner(tx, owner);
    if (integration !== null && (await loadIntegrationHook(tx.db, owner, integration)) !== undefined)
      return null;
    await requireRecordQuota(selectOwnHooks(tx.db, owner), quotas[owner.type]);
    const row = await tx.db
      .insertInto('hooks')
      .values({
        ...ownerColumns(owner),
        ...defaultFlags(owner),
        url: edit.url,
        enable_ssl_verification: 1,
        branch_filter_strategy: 'wildcard',
        uuid: randomUUID(),
        integration,
        created_at: tx.now,
        updated_at: tx.now,
        ...(columns as object),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await raiseVersion(tx);
    await recordHookEvent(call, tx, 'created', row);
    return row;
  });
};

/** @throws Failure 422 for an invalid URL, template, token, header or variable; 400 for too many hooks */
export const createHook = async (
  call: Call,
  owner: HookOwner,
  input: HookEdit & { url: string },
): Promise<HookRow> => {
  const row = await insertHook(call, owner, input, null);
  if (row === null) throw new Error('a hook was taken for an integration');
  return row;
};

/** Like `createHook`, for a hook that is an integration. Returns null if the owner has this integration already. */
export const createIntegrationHook = async (
  call: Call,
  owner: HookOwner,
  integration: string,
  input: HookEdit & { url: string },
): Promise<HookRow | null> => await insertHook(call, owner, input, integration);

/** Locks a hook. Waits for transactions that store deliveries without work, since they saw that it pauses. */
const lockHook = async (tx: Tx, id: number): Promise<void> => {
  const own = tx.db.selectFrom('hooks').select('id').where('id', '=', id);
  await own.modifyEnd(tx.dialect.forUpdate).execute();
  await lockPause(tx, id);
};

/**
 * Edits a hook. Also resumes a hook that paused after failures: its pending deliveries are sent immediately. If the
 * edit changes the URL's origin, tokens, headers and URL variables that it does not include are cleared, so that the
 * new host does not receive them.
 * @param input the edit, or makes it from the locked hook
 * @throws Failure 404, 422
 */
export const updateHook = async (
  call: Call,
  owner: HookOwner,
  id: number,
  input: HookEdit | ((before: HookRow) => HookEdit),
): Promise<HookRow> =>
  await call.write(async (tx) => {
    await lockOwner(tx, owner);
    await lockHook(tx, id);
    const before = await findHook(tx.db, owner, id);
    const edit = keepOwnFlags(owner, typeof input === 'function' ? input(before) : input);
    const row = await tx.db
      .updateTable('hooks')
      .set({
        ...(readHookUpdate(call, edit, before) as object),
        failures: 0,
        failing_since: null,
        disabled_until: null,
        updated_at: tx.now,
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    if (before.failures > 0) await enqueue(tx, resumeWork, { hook_id: id, now: true });
    await raiseVersion(tx);
    await recordHookEvent(call, tx, 'updated', row);
    return row;
  });

/** Deletes a hook with its pending deliveries and its log. @throws Failure 404 */
export const deleteHook = async (call: Call, owner: HookOwner, id: number): Promise<HookRow> =>
  await call.write(async (tx) => {
    const row = await findHook(tx.db, owner, id);
    await tx.db.deleteFrom('hooks').where('id', '=', id).execute();
    await raiseVersion(tx);
    await recordHookEvent(call, tx, 'deleted', row);
    return row;
  });
