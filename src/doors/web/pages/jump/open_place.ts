/** The project or group of the page on which the palette was opened. */
import { type Group, findGroup } from '../../../../identity/groups/find.ts';
import { nullIfMissing } from '../../../../platform/errors.ts';
import { type Project, findProject } from '../../../../projects/projects/find.ts';
import type { Visit } from '../../page.ts';

/** At most one of the two is not null. */
export type OpenPlace = { project: Project | null; group: Group | null };

const groupsPath = 'groups/';

const withoutSlash = (path: string): string => path.replace(/^\//, '');

/** Finds a project by its path; null if it is missing or hidden. */
export const findProjectAt = async ({ call }: Visit, address: string): Promise<Project | null> => {
  const path = withoutSlash(address);
  return path.includes('/') ? await nullIfMissing(findProject(call, path)) : null;
};

/** Finds the place by its path: `/group/project`, `/groups/group`, or that of another page. */
export const findOpenPlace = async (visit: Visit, place: string): Promise<OpenPlace> => {
  const path = withoutSlash(place);
  if (!path.startsWith(groupsPath)) return { project: await findProjectAt(visit, path), group: null };
  const group = await nullIfMissing(findGroup(visit.call, path.slice(groupsPath.length)));
  return { project: null, group };
};

/** Returns the path of the place as pages have it; null for another page. */
export const placePath = ({ project, group }: OpenPlace): string | null => {
  if (project !== null) return `/${project.full_path}`;
  return group === null ? null : `/groups/${group.full_path}`;
};
