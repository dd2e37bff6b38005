import type { Call } from '../../core/access/call.ts';
import { toFlag } from '../../platform/db/schema/column_types.ts';
import { forbidden, invalid } from '../../platform/errors.ts';
import { recordInProject } from './create.ts';
import type { DeployKeyRow } from './json.ts';
import { ownsKey } from './key_rights.ts';
import { findInProject } from './queries.ts';

export type DeployKeyEdit = { title?: string | undefined; can_push?: boolean | undefined };

/**
 * Changes a deploy key's push permission in a project, and its title, which its projects share.
 * @throws Failure 404, 403 for the title of a key that projects of others share
 */
export const updateDeployKey = async (
  call: Call,
  projectId: number,
  keyId: number,
  edit: DeployKeyEdit,
): Promise<DeployKeyRow> =>
  await call.write(async (tx) => {
    const key = await findInProject(tx.db, projectId, keyId);
    const title = edit.title?.trim() ?? key.title;
    if (title === '') throw invalid({ title: ["can't be blank"] });
    const can_push = edit.can_push === undefined ? key.can_push : toFlag(edit.can_push);
    const after = { ...key, title, can_push } as const;
    if (title !== key.title) {
      if (!(await ownsKey(call, tx.db, keyId))) throw forbidden();
      await tx.db.updateTable('keys').set({ title }).where('id', '=', keyId).execute();
    }
    if (can_push !== key.can_push) {
      await tx.db
        .updateTable('deploy_key_projects')
        .set({ can_push })
        .where('project_id', '=', projectId)
        .where('key_id', '=', keyId)
        .execute();
    }
    if (title === key.title && can_push === key.can_push) return key;
    const details = { title: [key.title, title], can_push: [key.can_push === 1, can_push === 1] };
    await recordInProject(tx, call, { kind: 'key.updated', project_id: projectId, key, details });
    return after;
  });
