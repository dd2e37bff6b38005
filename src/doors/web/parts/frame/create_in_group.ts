/** The forms for new projects and groups in a group, for the menu “Create” on its pages and for the palette. */
import { mayInGroup } from '../../../../core/access/may.ts';
import type { Group } from '../../../../identity/groups/find.ts';
import type { CreateLink, Visit } from '../../page.ts';

export const canCreateSubgroup = ({ call }: Visit, group: Group): boolean =>
  call.signedIn && mayInGroup(call.viewer, 'create_subgroup', group);

export const canCreateProject = ({ call }: Visit, group: Group): boolean =>
  call.signedIn && mayInGroup(call.viewer, 'create_project', group);

export const newSubgroupPath = ({ id }: Pick<Group, 'id'>): string => `/groups/new?parent_id=${id}`;

export const newProjectPath = ({ id }: Pick<Group, 'id'>): string => `/projects/new?namespace_id=${id}`;

/** Lists the forms that the viewer may fill. */
export const listCreateLinksInGroup = (visit: Visit, group: Group): CreateLink[] => [
  ...(canCreateProject(visit, group)
    ? [{ path: newProjectPath(group), name: 'New project', icon: 'code' as const }]
    : []),
  ...(canCreateSubgroup(visit, group)
    ? [{ path: newSubgroupPath(group), name: 'New subgroup', icon: 'group' as const }]
    : []),
];
