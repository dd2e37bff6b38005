import { type Call, requireUser } from '../../core/access/call.ts';
import { findVisibilityProblem } from '../../core/settings/setting_effects.ts';
import { visibilities } from '../../identity/groups/rules.ts';
import { selectNamespaceId } from '../../identity/namespaces/redirects.ts';
import { createProject, mayCreateIn } from './create.ts';
import { type Project, loadProject } from './find.ts';

/**
 * Creates a project for a push to a path that does not exist: private, or as narrow as the settings allow.
 * @returns null if the caller may not create projects there, or the namespace is missing
 * @throws Failure for an invalid name and a reached quota
 */
export const createProjectByPush = async (call: Call, fullPath: string): Promise<Project | null> => {
  const at = fullPath.lastIndexOf('/');
  const [parent, path] = [fullPath.slice(0, Math.max(at, 0)), fullPath.slice(at + 1)];
  if (parent === '' || path === '') return null;
  const user = requireUser(call);
  const namespace = await call.db
    .selectFrom('namespaces')
    .selectAll()
    .where('id', '=', selectNamespaceId(parent))
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (namespace === undefined || !mayCreateIn(call, user, namespace)) return null;
  const visibility = visibilities.find((one) => findVisibilityProblem(call, one) === null) ?? 'private';
  return await loadProject(call.db, await createProject(call, user, namespace.id, { path, visibility }));
};
