/** The filter of a list by one of its projects, which the API does not have. */
import { selectDescendants } from '../../../../../identity/namespaces/ancestors.ts';
import { isNotFound } from '../../../../../platform/errors.ts';
import type { Scope } from '../../../../../planning/issuables/lists/list_kind.ts';
import { findProject, type Project } from '../../../../../projects/projects/find.ts';
import type { Visit } from '../../../page.ts';
import type { AnyListScope } from './list_scope.ts';

/** A group that does not exist: a list of nothing. */
const nowhere = { group_id: 0 };

const isInGroup = async ({ call }: Visit, { namespace_id }: Project, groupId: number): Promise<boolean> => {
  const row = await call.db
    .selectFrom('namespaces')
    .select('id')
    .where('id', '=', namespace_id)
    .where('id', 'in', selectDescendants(groupId))
    .executeTakeFirst();
  return row !== undefined;
};

/** Limits the records of several projects to one project; there are none if it is not among the projects. */
export const narrowScope = async (visit: Visit, scope: Scope, path: string | undefined): Promise<Scope> => {
  const requested = path?.trim() ?? '';
  if (requested === '' || (scope !== 'everywhere' && 'project' in scope)) return scope;
  try {
    const project = await findProject(visit.call, requested);
    const isListed = scope === 'everywhere' || (await isInGroup(visit, project, scope.group_id));
    return isListed ? { project } : nowhere;
  } catch (error) {
    if (isNotFound(error)) return nowhere;
    throw error;
  }
};

/** Limits a list of several projects to one of them; it is empty if the list has no such project. */
export const narrowToProject = async <L extends AnyListScope>(
  visit: Visit,
  list: L,
  path: string | undefined,
): Promise<L> => {
  const scope = await narrowScope(visit, list.scope, path);
  return scope === list.scope ? list : { ...list, wholeScope: list.scope, scope };
};
