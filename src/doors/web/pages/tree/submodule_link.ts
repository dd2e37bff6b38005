/** Links to the repository of a submodule. */
import type { Project } from '../../../../projects/projects/find.ts';
import { trimEnd } from '../../../../platform/trim.ts';

const projectPath = /^\/[\w.-]+(?:\/[\w.-]+)+$/;

const withoutSuffix = (path: string): string => trimEnd(path, '/').replace(/\.git$/, '');

/**
 * Returns the source of a submodule: a path of the instance, or a page of another site; null if it is not a web URL.
 * @param url as `.gitmodules` names it; relative URLs start at the project
 */
export const submoduleUrl = (
  url: string,
  { full_path }: Pick<Project, 'full_path'>,
  baseUrl: string,
): { href: string; isOwn: boolean } | null => {
  const base = URL.parse(`${trimEnd(baseUrl, '/')}/`);
  if (base === null) return null;
  const isRelative = /^\.{1,2}\//.test(url);
  // Git takes the address of the repository as a folder.
  const target = isRelative ? URL.parse(url, new URL(`${full_path}/`, base)) : URL.parse(url);
  if (target === null || !/^https?:$/.test(target.protocol)) return null;
  const path = withoutSuffix(target.pathname);
  const isOwn = target.origin === base.origin && projectPath.test(path);
  return isOwn
    ? { href: path, isOwn }
    : isRelative
      ? null
      : { href: withoutSuffix(`${target.origin}${target.pathname}`), isOwn };
};
