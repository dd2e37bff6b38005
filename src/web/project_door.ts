/** The pages of a project lie below its own path, those of a group below `/groups/`: `/group/project/-/pipelines`. */

const ofProject =
  /^\/((?!api\/v4\/|-\/|groups\/)[^?#]+?)\/-\/(pipelines|jobs|pipeline_schedules|environments|variables|triggers|runners|job_token_scope)(\/.*)?$/;
const ofGroup = /^\/groups\/([^?#]+?)\/-\/(variables|runners)(\/.*)?$/;
const settings = /^\/(groups\/)?((?!api\/v4\/|-\/)[^?#]+?)\/-\/settings\/ci_cd$/;

const servedFor = (noun: 'projects' | 'groups', path: string, below: string): string =>
  `/-/${noun}/${path.replaceAll('/', '%2F')}/${below}`;

/** Folders of artifacts are one part of what is served. */
const folded = (rest: string): string => {
  const [, start, file] = /^(\/\d+\/artifacts\/browse\/)(.+)$/.exec(rest) ?? [];
  return start === undefined ? rest : start + (file ?? '').replaceAll('/', '%2F');
};

/** Becomes the one path that is served; any other path stays as it is. */
export const projectPagePath = (path: string): string => {
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
