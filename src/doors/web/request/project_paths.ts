/** Rewrites paths of project and group pages (`/group/project/-/pipelines`) to the routes that serve them. */
import { groupNouns, projectNouns } from '../places.ts';

const namesOf = (pages: readonly { noun: string }[]): string => pages.map(({ noun }) => noun).join('|');

const ofProject = new RegExp(`^/((?!api/v4/|-/|groups/)[^?#]+?)/-/(${namesOf(projectNouns)})(/.*)?$`);
const ofGroup = new RegExp(`^/groups/([^?#]+?)/-/(${namesOf(groupNouns)})(/.*)?$`);
const settings = /^\/(groups\/)?((?!api\/v4\/|-\/)[^?#]+?)\/-\/settings\/ci_cd$/;

const servedFor = (noun: 'projects' | 'groups', path: string, below: string): string =>
  `/-/${noun}/${path.replaceAll('/', '%2F')}/${below}`;

/** Encodes a path within an archive as the one segment that the route takes. */
const folded = (rest: string): string => {
  const [, start, file] = /^(\/\d+\/artifacts\/browse\/)(.+)$/.exec(rest) ?? [];
  return start === undefined ? rest : start + (file ?? '').replaceAll('/', '%2F');
};

/** Returns the served path of a project or group page; any other path unchanged. */
export const servedPagePath = (path: string): string => {
  if (!path.includes('/-/')) return path;
  const [, group, groupNoun, below = ''] = ofGroup.exec(path) ?? [];
  if (group !== undefined) return servedFor('groups', group, `${groupNoun}${below}`);
  const [, project, noun, rest = ''] = ofProject.exec(path) ?? [];
  if (project?.includes('/') === true) return servedFor('projects', project, `${noun}${folded(rest)}`);
  const [, isGroup, of] = settings.exec(path) ?? [];
  if (of === undefined) return path;
  if (isGroup !== undefined) return servedFor('groups', of, 'runners');
  return of.includes('/') ? servedFor('projects', of, 'runners') : path;
};
