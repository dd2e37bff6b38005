/** The pages of a project lie below its own path: `/group/project/-/pipelines`. */

const pattern = /^\/((?!api\/v4\/|-\/)[^?#]+?)\/-\/(pipelines|jobs|runners)(\/.*)?$/;
const settings = /^\/((?!api\/v4\/|-\/)[^?#]+?)\/-\/settings\/ci_cd$/;

/** Becomes the one path that is served; any other path stays as it is. */
export const projectPagePath = (path: string): string => {
  if (!path.includes('/-/')) return path;
  const [, project, noun, rest = ''] = pattern.exec(path) ?? [];
  if (project !== undefined && project.includes('/')) {
    const [, start, file] = /^(\/\d+\/artifacts\/browse\/)(.+)$/.exec(rest) ?? [];
    const below = start === undefined ? rest : start + (file ?? '').replaceAll('/', '%2F');
    return `/-/projects/${project.replaceAll('/', '%2F')}/${noun}${below}`;
  }
  const [, of] = settings.exec(path) ?? [];
  return of === undefined || !of.includes('/') ? path : `/-/projects/${of.replaceAll('/', '%2F')}/runners`;
};
