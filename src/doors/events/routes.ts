/** The events API: activities of users on records that the caller sees. */
import { type Call, requireUser } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { idOrPath, object } from '../../platform/http/schema.ts';
import { findProject } from '../../projects/projects/find.ts';
import { findProjectOwner } from '../../projects/projects/lists/user_projects.ts';
import { contributedProjects } from './contributed_projects.ts';
import { eventShape, eventsJson } from './json.ts';
import {
  type EventFilter,
  byAuthor,
  eventFilterParams,
  inOwnProjects,
  inProject,
  listActivities,
} from './list_activities.ts';

const shared = { area: 'events', list: true, reply: eventShape } as const;
const scopes = ['read_user'];

/** Activity of the user or, with `scope=all`, in the projects of the caller. */
const chooseScope = (call: Call, userId: number, { scope }: EventFilter) =>
  scope === 'all' && call.signedIn ? inOwnProjects(call) : byAuthor(userId);

const own = endpoint({
  method: 'GET',
  path: '/events',
  summary: 'List your events',
  ...shared,
  audience: 'user',
  scopes,
  params: object(eventFilterParams),
  handle: async (call, filter) => {
    const where = chooseScope(call, requireUser(call).id, filter);
    const { items, total } = await listActivities(call, where, filter);
    return { items: await eventsJson(call, items), total };
  },
});

const ofUser = endpoint({
  method: 'GET',
  path: '/users/:id/events',
  summary: 'List events of a user',
  ...shared,
  audience: 'optional',
  scopes,
  params: object({ id: idOrPath('id or name of the user'), ...eventFilterParams }),
  handle: async (call, { id, ...filter }) => {
    const where = chooseScope(call, (await findProjectOwner(call, id)).id, filter);
    const { items, total } = await listActivities(call, where, filter);
    return { items: await eventsJson(call, items), total };
  },
});

const ofProject = endpoint({
  method: 'GET',
  path: '/projects/:id/events',
  summary: 'List events of a project',
  ...shared,
  audience: 'optional',
  params: object({ id: idOrPath('id or full path of the project'), ...eventFilterParams }),
  handle: async (call, { id, ...filter }) => {
    const project = await findProject(call, id);
    const { items, total } = await listActivities(call, inProject(project.id), filter);
    return { items: await eventsJson(call, items), total };
  },
});

export const eventRoutes = [own, ofUser, ofProject, contributedProjects];
