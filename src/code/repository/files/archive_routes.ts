import { endpoint } from '../../../core/access/endpoint.ts';
import { object, optional, text } from '../../../platform/http/schema.ts';
import { projectParam } from '../find_code.ts';
import { findCachedCode } from '../read_cache.ts';
import { archiveAnswer } from './archive.ts';
import { pathParam } from './paths.ts';

const area = 'repositories';
const repository = '/projects/:id/repository';

const archiveParams = {
  id: projectParam,
  sha: optional(
    text({ maxLength: 1000, description: 'branch, tag or commit (default: the default branch)' }),
  ),
  path: optional(pathParam('only this folder or file')),
};

const archive = endpoint({
  method: 'GET',
  path: `${repository}/archive`,
  summary: 'Download the files of a commit as an archive',
  area,
  audience: 'optional',
  params: object({ ...archiveParams, format: optional(text({ description: 'default: `tar.gz`' })) }),
  reply: null,
  content: '*/*',
  handle: async (call, { id, ...request }) =>
    await archiveAnswer(call, await findCachedCode(call, id), request),
});

const archiveInFormat = endpoint({
  method: 'GET',
  path: `${repository}/archive.:format`,
  summary: 'Download the files of a commit as an archive: `tar`, `tar.gz`, `tar.bz2` or `zip`',
  area,
  audience: 'optional',
  params: object({ ...archiveParams, format: text() }),
  reply: null,
  content: '*/*',
  handle: async (call, { id, ...request }) =>
    await archiveAnswer(call, await findCachedCode(call, id), request),
});

export const archiveRoutes = [archive, archiveInFormat];
