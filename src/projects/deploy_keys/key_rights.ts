/** Who may add a deploy key to another project, and who may change it. */
import type { Call } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import type { Reader } from '../../platform/db/open.ts';
import { findAnyDeployKey } from './queries.ts';

/** The projects of a deploy key. They decide who may add it to another project. */
const listProjectsOfKey = async (db: Reader, keyId: number) =>
  await db
    .selectFrom('deploy_key_projects as links')
    .innerJoin('projects', 'projects.id', 'links.project_id')
    .selectAll('projects')
    .where('links.key_id', '=', keyId)
    .where('projects.deleted_at', 'is', null)
    .execute();

const isShared = async (db: Reader, keyId: number): Promise<boolean> =>
  (await findAnyDeployKey(db, keyId)).shared === 1;

/** Returns whether a deploy key is of the instance, or the caller administers a project that has it. */
export const canReuseKey = async ({ viewer, admin }: Call, db: Reader, keyId: number): Promise<boolean> => {
  if (admin || (await isShared(db, keyId))) return true;
  return (await listProjectsOfKey(db, keyId)).some((project) => may(viewer, 'admin_deploy_key', project));
};

/** Returns whether the caller administers every project that has this key. Administrators own keys of the instance. */
export const ownsKey = async ({ viewer, admin }: Call, db: Reader, keyId: number): Promise<boolean> => {
  if (admin) return true;
  if (await isShared(db, keyId)) return false;
  return (await listProjectsOfKey(db, keyId)).every((project) => may(viewer, 'admin_deploy_key', project));
};
