const pattern = /^\/((?!api\/v4\/|-\/)[^?#]+\/[^/?#]+)\/uploads\/([0-9a-f]{32}\/[^/?#]+)$/;

/**
 * Rewrites `/group/project/uploads/<secret>/<name>`, as links in texts of a project resolve, to the served path.
 * Other paths stay unchanged.
 */
export const uploadPath = (path: string): string => {
  if (!path.includes('/uploads/')) return path;
  const [, project, file] = pattern.exec(path) ?? [];
  if (project === undefined || file === undefined) return path;
  return `/-/project/${project.replaceAll('/', '%2F')}/uploads/${file}`;
};
