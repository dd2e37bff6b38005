/**
 * Clone, fetch and push over HTTP, at `/<namespace>/<project>.git`. All that serves them is loaded with the first
 * request that asks.
 */
import { type Call, endpoint } from '../access/call.ts';
import { type AnyEndpoint, Answer } from '../http/endpoint.ts';
import { object, optional, text } from '../http/schema.ts';

const smart = /^\/((?!api\/v4\/|-\/)[^/?#]+(?:\/[^/?#]+)+)\/(info\/refs|git-upload-pack|git-receive-pack)$/;
/** What a client of old reads file by file. */
const dumb =
  /^\/(?!api\/v4\/|-\/)[^/?#]+(?:\/[^/?#]+)+\.git\/(?:HEAD|objects\/[^?#]+|info\/(?:alternates|http-alternates))$/;
const suffixes = ['/info/refs', '/git-upload-pack', '/git-receive-pack'];

/**
 * `/group/project.git/info/refs`, as clients call it (also without `.git`), becomes the one path that is served; any
 * other path stays as it is.
 */
export const gitPath = (path: string): string => {
  if (suffixes.some((suffix) => path.endsWith(suffix))) {
    const [, project, rest] = smart.exec(path) ?? [];
    if (project === undefined || rest === undefined) return path;
    return `/-/git/${project.replace(/\.git$/, '').replaceAll('/', '%2F')}/${rest}`;
  }
  return path.includes('.git/') && dumb.test(path) ? '/-/git/files' : path;
};

const project = text({ maxLength: 1_000 });

const advertisement = endpoint({
  method: 'GET',
  path: '/-/git/:project/info/refs',
  summary: 'What a git client reads first',
  area: 'git',
  // Names and passwords are read here: what is wrong with them is told as git shows it.
  audience: 'anyone',
  params: object({ project, service: optional(text()) }),
  reply: null,
  content: '*/*',
  handle: async (call, params) =>
    await (await import('./serve.ts')).serveAdvertisement(call, params.project, params.service),
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
      await (await import('./serve.ts')).serveService(call, params.project, service),
  });

const files = endpoint({
  method: 'GET',
  path: '/-/git/files',
  summary: 'The dumb protocol, which is not spoken',
  area: 'git',
  audience: 'anyone',
  params: object({}),
  reply: null,
  content: 'text/plain',
  handle: async () =>
    await Promise.resolve(
      new Answer('Only the smart protocol of git is spoken here.\n', {
        status: 403,
        headers: { 'content-type': 'text/plain; charset=utf-8' },
      }),
    ),
});

export const gitDoors: AnyEndpoint<Call>[] = [
  advertisement,
  serviceDoor('git-upload-pack', 'Fetch and clone'),
  serviceDoor('git-receive-pack', 'Push'),
  files,
];
