/**
 * Clone, fetch and push over HTTP, at `/<namespace>/<project>.git`. The code behind them is loaded with the first
 * request.
 */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { type AnyEndpoint, Answer } from '../../platform/http/endpoint.ts';
import { object, optional, text } from '../../platform/http/schema.ts';

const smart = /^\/((?!api\/v4\/|-\/)[^/?#]+(?:\/[^/?#]+)+)\/(info\/refs|git-upload-pack|git-receive-pack)$/;
/** Files that clients of the dumb protocol request. */
const dumb =
  /^\/(?!api\/v4\/|-\/)[^/?#]+(?:\/[^/?#]+)+\.git\/(?:HEAD|objects\/[^?#]+|info\/(?:alternates|http-alternates))$/;
const suffixes = ['/info/refs', '/git-upload-pack', '/git-receive-pack'];

/**
 * Rewrites `/group/project.git/info/refs`, also without `.git`, to the route that serves it. Returns any other path
 * unchanged.
 */
export const gitPath = (path: string): string => {
  if (suffixes.some((suffix) => path.endsWith(suffix))) {
    const [, project, rest] = smart.exec(path) ?? [];
    if (project === undefined || rest === undefined) return path;
    return `/-/git/${project.replace(/\.git$/, '').replaceAll('/', '%2F')}/${rest}`;
  }
  // Without a `#` the pattern ends at its first try.
  return path.includes('.git/') && !path.includes('#') && dumb.test(path) ? '/-/git/files' : path;
};

const project = text({ maxLength: 1_000 });

const advertisement = endpoint({
  method: 'GET',
  path: '/-/git/:project/info/refs',
  summary: 'List refs for a git client',
  area: 'git',
  // Credentials are checked by the handler, so that errors have the form that git shows.
  audience: 'anyone',
  params: object({ project, service: optional(text()) }),
  reply: null,
  content: '*/*',
  handle: async (call, params) =>
    await (await import('./serve_git.ts')).serveAdvertisement(call, params.project, params.service),
});

const serviceDoor = (service: 'git-upload-pack' | 'git-receive-pack', summary: string) =>
  endpoint({
    method: 'POST',
    path: `/-/git/:project/${service}`,
    summary,
    area: 'git',
    audience: 'anyone',
    params: object({ project }),
    reply: null,
    content: '*/*',
    body: 'stream',
    handle: async (call, params) =>
      await (await import('./serve_git.ts')).serveService(call, params.project, service),
  });

const files = endpoint({
  method: 'GET',
  path: '/-/git/files',
  summary: 'Refuse the dumb protocol',
  area: 'git',
  audience: 'anyone',
  params: object({}),
  reply: null,
  content: 'text/plain',
  handle: async () =>
    await Promise.resolve(
      new Answer('Only the smart HTTP protocol of git is supported.\n', {
        status: 403,
        headers: { 'content-type': 'text/plain; charset=utf-8' },
      }),
    ),
});

export const gitHttpRoutes: AnyEndpoint<Call>[] = [
  advertisement,
  serviceDoor('git-upload-pack', 'Fetch and clone'),
  serviceDoor('git-receive-pack', 'Push'),
  files,
];
