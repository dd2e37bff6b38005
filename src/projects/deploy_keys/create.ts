import { type Call, requireActor } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import { type Flag, toFlag } from '../../platform/db/schema/column_types.ts';
import { notFound } from '../../platform/errors.ts';
import { recordAudit } from '../../core/access/audit.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { insertKey } from '../../identity/keys/create.ts';
import type { KeyRow } from '../../identity/keys/queries.ts';
import { type KeyInput, checkKey, fingerprintTaken } from '../../identity/keys/rules.ts';
import { holdProject } from '../projects/lock_project.ts';
import type { DeployKeyRow } from './json.ts';
import { canReuseKey } from './key_rights.ts';
import { findInProject } from './queries.ts';

/** Records that a deploy key was added to a project, removed, or allowed to push. */
export const recordInProject = async (
  tx: Tx,
  call: Call,
  what: { kind: string; project_id: number; key: KeyRow; details?: object },
): Promise<void> => {
  const { kind, project_id, key } = what;
  const actor = requireActor(call);
  const target = { target_type: 'Key', target_id: key.id };
  const details = { project_id, title: key.title, ...what.details };
  await recordAudit(tx, actor, call, { kind, ...target, details });
  await recordEvent(tx, actor, { kind, project_id, ...target, data: details });
};

const addToProject = async (
  tx: Tx,
  call: Call,
  projectId: number,
  { key, can_push }: { key: KeyRow; can_push: Flag },
): Promise<DeployKeyRow> => {
  const { numInsertedOrUpdatedRows } = await tx.db
    .insertInto('deploy_key_projects')
    .values({ project_id: projectId, key_id: key.id, can_push, created_at: tx.now })
    .onConflict((clash) => clash.doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows === 1n) {
    const added = { kind: 'key.enabled', project_id: projectId, key, details: { can_push: can_push === 1 } };
    await recordInProject(tx, call, added);
  }
  return await findInProject(tx.db, projectId, key.id);
};

/**
 * Creates a deploy key of the instance, which maintainers of any project may enable.
 * @throws Failure 400 for an invalid key or one that is stored already
 */
export const createSharedKey = async (call: Call, input: KeyInput): Promise<KeyRow> => {
  const checked = await checkKey(call, input);
  return await call.write(async (tx) => await insertKey(tx, call, null, { ...checked, shared: 1 }));
};

/** Loads and locks the deploy key with this fingerprint, of any project. Keys of users do not count. */
const lockKeyByFingerprint = async (tx: Tx, fingerprint: string): Promise<KeyRow | undefined> =>
  await tx.db
    .selectFrom('keys')
    .selectAll()
    .where('fingerprint_sha256', '=', fingerprint)
    .where('user_id', 'is', null)
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirst();

/**
 * Adds a deploy key to a project: a new one, one of a project that the caller administers, or one of the instance.
 * @throws Failure 400 for an invalid key or one that somebody else has
 */
export const createDeployKey = async (
  call: Call,
  projectId: number,
  { can_push, ...input }: KeyInput & { can_push: boolean },
): Promise<DeployKeyRow> => {
  const checked = await checkKey(call, input);
  return await call.write(async (tx) => {
    await holdProject(tx, projectId);
    const existing = await lockKeyByFingerprint(tx, checked.fingerprint_sha256);
    if (existing !== undefined && !(await canReuseKey(call, tx.db, existing.id))) throw fingerprintTaken();
    const key = existing ?? (await insertKey(tx, call, null, checked));
    return await addToProject(tx, call, projectId, { key, can_push: toFlag(can_push) });
  });
};

/**
 * Adds a deploy key of another project that the caller administers, or of the instance, for reading.
 * @throws Failure 404 `404 Deploy Key Not Found`
 */
export const enableDeployKey = async (call: Call, projectId: number, keyId: number): Promise<DeployKeyRow> =>
  await call.write(async (tx) => {
    await holdProject(tx, projectId);
    const key = await tx.db
      .selectFrom('keys')
      .selectAll()
      .where('id', '=', keyId)
      .where('user_id', 'is', null)
      .modifyEnd(tx.dialect.forUpdate)
      .executeTakeFirst();
    if (key === undefined || !(await canReuseKey(call, tx.db, keyId))) throw notFound('Deploy Key');
    return await addToProject(tx, call, projectId, { key, can_push: 0 });
  });
