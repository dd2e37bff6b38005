/** Answers `go get`, which requests `?go-get=1` of the path of a package. */
import { visibleProjectsByPath } from '../../../projects/projects/find.ts';
import type { Call } from '../../../core/access/call.ts';
import { RawPage } from '../page.ts';
import { html } from '../parts/html.ts';

/** Segments of a path that could belong to a project. */
const maxSegments = 20;

/** Returns the path of the visible project that contains the package; else the first two segments. */
const findRoot = async (call: Call, path: string): Promise<string | null> => {
  const segments = path.split('/').filter((segment) => segment !== '');
  if (segments.length < 2) return null;
  const candidates = segments
    .slice(0, maxSegments)
    .map((_segment, at) => segments.slice(0, at + 1).join('/'))
    .slice(1);
  const projects = await visibleProjectsByPath(
    call,
    candidates.map((one) => one.toLowerCase()),
  );
  const [project] = candidates
    .map((one) => projects.get(one.toLowerCase()))
    .filter((one) => one !== undefined);
  return project?.full_path ?? segments.slice(0, 2).join('/');
};

/** Decodes the path of a request without what follows the project; empty: it is malformed. */
const decodePath = (path: string, baseUrl: string): string => {
  try {
    return decodeURI(URL.parse(path, baseUrl)?.pathname ?? '').split('/-/')[0] ?? '';
  } catch {
    return '';
  }
};

/**
 * Returns the page for a package: it names the repository. A hidden project is answered as a missing one: git then asks
 * for credentials for both. null if the path has too few segments.
 * @param path as the client sent it
 */
export const goGetPage = async (call: Call, path: string): Promise<RawPage | null> => {
  const root = await findRoot(call, decodePath(path, call.baseUrl));
  if (root === null) return null;
  const host = call.baseUrl.replace(/^https?:\/\//, '');
  const source = `${call.baseUrl}/${root}.git`;
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>go get</title><meta name="go-import" content="${host}/${root} git ${source}"></head>
<body>go get ${host}/${root}</body></html>
`;
  return new RawPage(page.text, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
  });
};
