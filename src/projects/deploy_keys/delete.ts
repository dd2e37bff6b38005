import type { Call } from '../../core/access/call.ts';
import { requireUnmodified } from '../../platform/http/precondition.ts';
import { removeKey } from '../../identity/keys/delete.ts';
import { lockKey } from '../../identity/keys/queries.ts';
import { recordInProject } from './create.ts';
import { findAnyDeployKey, findInProject } from './queries.ts';

/**
 * Removes a deploy key from a project, and deletes it with its last project unless it is of the instance.
 * @throws Failure 404, 412
 */
export const deleteDeployKey = async (call: Call, projectId: number, keyId: number): Promise<void> =>
  await call.write(async (tx) => {
    // Serializes concurrent removals from the last two projects.
    await lockKey(tx, keyId);
    const { can_push: _push, ...key } = await findInProject(tx.db, projectId, keyId);
    requireUnmodified(call.header('if-unmodified-since'), key.created_at);
    await tx.db
      .deleteFrom('deploy_key_projects')
      .where('project_id', '=', projectId)
      .where('key_id', '=', keyId)
      .execute();
    await recordInProject(tx, call, { kind: 'key.disabled', project_id: projectId, key });
    const enabled = await tx.db
      .selectFrom('deploy_key_projects')
      .select('project_id')
      .where('key_id', '=', keyId)
      .limit(1)
      .executeTakeFirst();
    if (enabled === undefined && key.shared === 0) await removeKey(tx, call, key);
  });

/** Deletes a deploy key and removes it from all projects. @throws Failure 404, 412 */
export const deleteKeyOfInstance = async (call: Call, keyId: number): Promise<void> =>
  await call.write(async (tx) => {
    await lockKey(tx, keyId);
    const key = await findAnyDeployKey(tx.db, keyId);
    requireUnmodified(call.header('if-unmodified-since'), key.created_at);
    await removeKey(tx, call, key);
  });
