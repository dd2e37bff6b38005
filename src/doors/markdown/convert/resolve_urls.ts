/** Resolves the addresses in a text: into the repository, to uploads, within the instance and to other sites. */
import { type ConvertOptions, getRoot } from './options.ts';
import { trimEnd } from '../../../platform/trim.ts';

export type ResolvedUrl = {
  href: string;
  /** Points to another site. */
  isExternal: boolean;
};

const schemes = new Set(['http:', 'https:', 'mailto:', 'tel:', 'ftp:', 'irc:', 'ircs:', 'xmpp:']);

/** Prefix of every id in a text, so that none clashes with an id of the page around it. */
export const idPrefix = 'user-content-';

const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

/** Encodes a segment of a path; a lone surrogate becomes U+FFFD. */
const encodeSegment = (segment: string): string => encodeURIComponent(segment.toWellFormed());

const encodePath = (path: string): string => path.split('/').map(encodeSegment).join('/');

/** Joins a relative path to a folder. `..` does not leave the root. */
const joinPath = (folder: string, path: string): string[] => {
  const segments = path.startsWith('/') ? [] : folder.split('/').filter(Boolean);
  for (const segment of path.split('/').map(decode)) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return segments;
};

const prefixFragment = (fragment: string, path: string): string => {
  const isText = path === '' || /\.(?:md|markdown|mdown|mkd)$/i.test(path);
  if (fragment === '' || !isText || fragment.startsWith(idPrefix)) return fragment;
  return /^L\d/.test(fragment) && path !== '' ? fragment : idPrefix + fragment;
};

const splitUrl = (url: string): { path: string; query: string; fragment: string | null } => {
  const [rest = '', ...after] = url.split('#');
  const [path = '', ...query] = rest.split('?');
  return {
    path,
    query: query.length === 0 ? '' : `?${query.join('?')}`,
    fragment: after.length === 0 ? null : after.join('#'),
  };
};

const uploadPath = /^\/uploads\/([0-9a-f]{32})\/([^/]+)$/;

/** Returns the address of a file or folder of the repository. */
const toRepositoryUrl = (
  path: string,
  kind: 'link' | 'image',
  { project, ref, path: file }: ConvertOptions,
): string => {
  const folder = file === null ? '' : file.split('/').slice(0, -1).join('/');
  const segments = joinPath(folder, path);
  const isFolder = segments.length === 0 || path.endsWith('/');
  const page = kind === 'image' ? 'raw' : isFolder ? 'tree' : 'blob';
  const below = segments.map((segment) => `/${encodeSegment(segment)}`).join('');
  return `/${project?.full_path ?? ''}/-/${page}/${encodePath(ref ?? 'HEAD')}${below}`;
};

const resolvePath = (path: string, kind: 'link' | 'image', options: ConvertOptions): string => {
  const { project, path: file } = options;
  if (project === null) return path;
  const [, secret, name] = uploadPath.exec(path) ?? [];
  if (secret !== undefined && name !== undefined) {
    return `/-/project/${project.id}/uploads/${secret}/${encodeSegment(decode(name))}`;
  }
  const isOfInstance =
    path.startsWith('/') &&
    (file === null || path.startsWith('/-/') || path.startsWith(`/${project.full_path}/`));
  return isOfInstance ? path : toRepositoryUrl(path, kind, options);
};

const isOfInstance = (url: URL, { baseUrl }: ConvertOptions): boolean =>
  URL.parse(baseUrl)?.origin === url.origin;

/** Returns the scheme of an address as a browser reads it; null if it has none. */
const readScheme = (url: string): string | null =>
  /^([a-z][a-z0-9+.-]*:)/i.exec(url)?.[1]?.toLowerCase() ?? null;

/** Browsers ignore these characters at both ends of an address: control characters, and the space. */
const ignoredAtEnds = String.fromCharCode(...Array.from({ length: 0x21 }, (_one, code) => code));

/**
 * Resolves an address of a text.
 * @returns null if it is not allowed or no address
 */
export const resolveUrl = (
  written: string,
  kind: 'link' | 'image',
  options: ConvertOptions,
): ResolvedUrl | null => {
  // oxlint-disable-next-line no-control-regex -- control characters are meant
  const url = trimEnd(written.replaceAll(/[\t\n\r]/g, '').replace(/^[\u0000-\u0020]+/, ''), ignoredAtEnds);
  const scheme = readScheme(url);
  if (scheme !== null && !schemes.has(scheme)) return null;
  if (scheme !== null && !/^https?:$/.test(scheme))
    return URL.canParse(url) ? { href: url, isExternal: true } : null;
  if (scheme !== null || /^[/\\]{2}/.test(url)) {
    const parsed = URL.parse(url, options.baseUrl === '' ? 'http://localhost' : options.baseUrl);
    return parsed === null ? null : { href: url, isExternal: !isOfInstance(parsed, options) };
  }
  const { path, query, fragment } = splitUrl(url.replaceAll('\\', '/'));
  const resolved = path === '' ? '' : resolvePath(path, kind, options);
  const root = resolved.startsWith('/') ? getRoot(options) : '';
  const anchor = fragment === null ? '' : `#${prefixFragment(fragment, path)}`;
  return { href: `${root}${resolved}${query}${anchor}`, isExternal: false };
};
