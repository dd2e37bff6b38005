/** Computes the access of a registry token: the requested actions that the user may do. */
import type { Call } from '../../core/access/call.ts';
import { type ProjectAction, may } from '../../core/access/may.ts';
import { invalid } from '../../platform/errors.ts';
import type { Puller } from './sign_in.ts';

/** A registry resource with actions, as in Docker's specification. */
export type Access = { type: 'repository'; name: string; actions: string[] };

const actionRules: Record<string, ProjectAction> = {
  pull: 'pull_image',
  push: 'push_image',
  delete: 'delete_image',
  '*': 'delete_image',
};

const maxScopes = 20;
const maxNameLength = 255;
const maxSegments = 30;
const segment = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/;

const isImageName = (name: string): boolean => {
  const segments = name.split('/');
  return (
    name.length <= maxNameLength &&
    segments.length <= maxSegments &&
    segments.every((one) => segment.test(one))
  );
};

/** Parses `repository:group/project/image:pull,push`; null if no project can match. */
const parseScope = (scope: string): Access | null => {
  const [, name = '', actions = ''] = /^repository(?:\([a-z0-9]+\))?:([^:\s]+):([a-z,*]*)$/.exec(scope) ?? [];
  if (!isImageName(name)) return null;
  return { type: 'repository', name, actions: [...new Set(actions.split(','))] };
};

/** @param scopes each possibly several separated by spaces */
const parseScopes = (scopes: readonly string[]): Access[] => {
  const scopeTexts = scopes.flatMap((text) => text.split(' ')).filter((scope) => scope !== '');
  if (scopeTexts.length > maxScopes)
    throw invalid({ scope: [`is too long (maximum is ${maxScopes} values)`] });
  const parsed = scopeTexts.map(parseScope).filter((scope) => scope !== null);
  const byName = Map.groupBy(parsed, ({ name }) => name);
  return [...byName].map(([name, some]) => ({
    type: 'repository',
    name,
    actions: [...new Set(some.flatMap(({ actions }) => actions))],
  }));
};

/** Returns the paths that the project of an image may have, longest first. */
const projectPaths = (name: string): string[] => {
  const segments = name.split('/');
  return segments.map((_one, at) => segments.slice(0, segments.length - at).join('/')).slice(0, -1);
};

const projectsByPath = async ({ db, platform }: Call, paths: string[]) => {
  if (paths.length === 0) return new Map();
  const rows = await db
    .selectFrom('routes')
    .innerJoin('projects', 'projects.id', 'routes.source_id')
    .select(['routes.path as route', 'projects.id', 'projects.namespace_id', 'projects.visibility'])
    .select(['projects.deleted_at', 'projects.archived', 'projects.container_registry_access_level'])
    .where('routes.source_type', '=', 'Project')
    .where(platform.store.dialect.oneOf('routes.path', paths))
    .execute();
  return new Map(rows.map((row) => [row.route, row]));
};

/** Returns the granted access. Neither hidden nor missing projects grant anything. */
export const grantedAccess = async (
  call: Call,
  { viewer, readsOnly }: Puller,
  scopes: readonly string[],
): Promise<Access[]> => {
  const requested = parseScopes(scopes);
  const projects = await projectsByPath(
    call,
    requested.flatMap(({ name }) => projectPaths(name)),
  );
  return requested.flatMap((one) => {
    // The nearest project owns the image, visible or not.
    const path = projectPaths(one.name).find((candidate) => projects.has(candidate));
    const project = path === undefined ? undefined : projects.get(path);
    if (project === undefined) return [];
    const actions = one.actions.filter((action) => {
      const rule = Object.hasOwn(actionRules, action) ? actionRules[action] : undefined;
      return rule !== undefined && (!readsOnly || action === 'pull') && may(viewer, rule, project);
    });
    return actions.length === 0 ? [] : [{ ...one, actions }];
  });
};
