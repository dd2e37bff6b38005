/** The owners of hooks, with their paths. */
import type { Call } from '../../core/access/call.ts';
import { idOrPath } from '../../platform/http/schema.ts';
import { type HookOwner, findHookGroup, findHookProject } from './owners.ts';

/** A kind of owner, with its paths and the function that finds and authorizes it. */
export type HookOwnerRoute = {
  type: HookOwner['type'];
  label: string;
  path: string;
  audience: 'user' | 'admin';
  ownParams: Record<string, ReturnType<typeof idOrPath>>;
  findOwner: (call: Call, input: object) => Promise<HookOwner>;
};

const getId = (input: object): number | string => (input as { id: number | string }).id;

export const hookOwnerRoutes: readonly HookOwnerRoute[] = [
  {
    type: 'project',
    label: 'a project (maintainers)',
    path: '/projects/:id/hooks',
    audience: 'user',
    ownParams: { id: idOrPath('project') },
    findOwner: async (call, input) => await findHookProject(call, getId(input)),
  },
  {
    type: 'group',
    label: 'a group (owners)',
    path: '/groups/:id/hooks',
    audience: 'user',
    ownParams: { id: idOrPath('group') },
    findOwner: async (call, input) => await findHookGroup(call, getId(input)),
  },
  {
    type: 'instance',
    label: 'the instance',
    path: '/hooks',
    audience: 'admin',
    ownParams: {},
    findOwner: async () => ({ type: 'instance' }),
  },
];
