import { endpoint } from '../../core/access/endpoint.ts';
import { notModified } from '../../platform/errors.ts';
import { pageParams } from '../../platform/http/page.ts';
import { idOrPath, object, optional, text } from '../../platform/http/schema.ts';
import { findProject } from '../projects/find.ts';
import { projectShape } from '../projects/json.ts';
import { listProjects, projectListParams } from '../projects/lists/list.ts';
import { starredBy } from '../projects/lists/list_filters.ts';
import { findProjectOwner } from '../projects/lists/user_projects.ts';
import { projectAnswer } from '../projects/project_response.ts';
import { listStarrers, starrerShape } from './list.ts';
import { setStarred } from './star.ts';

const project = idOrPath('id or full path of the project');

const starring = (word: 'star' | 'unstar') =>
  endpoint({
    method: 'POST',
    path: `/projects/:id/${word}`,
    summary: word === 'star' ? 'Star a project' : 'Unstar a project',
    area: 'projects',
    audience: 'user',
    params: object({ id: project }),
    reply: projectShape,
    handle: async (call, { id }) => {
      const starred = await findProject(call, id);
      if (!(await setStarred(call, starred, word === 'star'))) throw notModified();
      return await projectAnswer(call, starred.id);
    },
  });

const starrers = endpoint({
  method: 'GET',
  path: '/projects/:id/starrers',
  summary: 'List users who starred a project, latest first',
  area: 'projects',
  audience: 'optional',
  params: object({
    id: project,
    search: optional(text({ description: 'part of the name or user name' })),
    ...pageParams,
  }),
  reply: starrerShape,
  list: true,
  handle: async (call, { id, ...params }) =>
    await listStarrers(call, (await findProject(call, id)).id, params),
});

const starredProjects = endpoint({
  method: 'GET',
  path: '/users/:user_id/starred_projects',
  summary: 'List projects starred by a user',
  area: 'projects',
  audience: 'optional',
  params: object({ user_id: idOrPath('id or name of the user'), ...projectListParams }),
  reply: projectShape,
  list: true,
  handle: async (call, params) => {
    const { id } = await findProjectOwner(call, params.user_id);
    return await listProjects(call, params, starredBy(id));
  },
});

export const starRoutes = [starring('star'), starring('unstar'), starrers, starredProjects];
