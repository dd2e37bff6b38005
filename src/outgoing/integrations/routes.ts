/** Endpoints of external issue trackers and of chats: `/integrations`, and `/services` as in version 10.0. */
import { endpoint } from '../../core/access/endpoint.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  bool,
  boolean,
  idOrPath,
  longText,
  object,
  oneOf,
  optional,
  text,
} from '../../platform/http/schema.ts';
import { findProjectFor } from '../../projects/projects/find.ts';
import {
  integrationJson,
  integrationShape as trackerShape,
  singleIntegrationJson,
  singleIntegrationShape as singleTrackerShape,
} from '../../planning/integrations/json.ts';
import { activeIntegrations, findIntegration } from '../../planning/integrations/queries.ts';
import { deleteIntegration, setIntegration } from '../../planning/integrations/set_integration.ts';
import { slugs } from '../../planning/integrations/trackers.ts';
import { eventFlags } from '../hooks/event_flags.ts';
import { deleteChat, listChats, setChat, showChat } from './chat_hooks.ts';
import { chatFlags, chatSlugs, isChat } from './chats.ts';

const shared = { area: 'integrations', audience: 'user' } as const;
const project = { id: idOrPath('project') };
const integrationParams = { ...project, slug: oneOf([...slugs, ...chatSlugs]) };
const url = (description: string) => optional(text({ maxLength: 2048, description }));

const flagShapes = Object.fromEntries(chatFlags.map((name) => [name, optional(bool)]));
const integrationShape = object({ ...trackerShape.properties, ...flagShapes });
const singleIntegrationShape = object({ ...singleTrackerShape.properties, ...flagShapes });

const flags = Object.fromEntries(
  chatFlags.map((name) => [name, optional(boolean({ description: `of a chat: ${eventFlags[name]}` }))]),
) as { [F in (typeof chatFlags)[number]]: ReturnType<typeof optional<ReturnType<typeof boolean>>> };

const settable = {
  webhook: url('URL of the incoming webhook of a chat'),
  ...flags,
  url: url('URL of Jira'),
  api_url: url('URL of the Jira API, if different'),
  username: optional(text({ description: 'user name at Jira' })),
  password: optional(text({ description: 'stored encrypted, never shown' })),
  project_key: optional(text({ description: 'key of the Jira project' })),
  jira_issue_transition_id: optional(text()),
  project_url: url('URL of the project in the tracker'),
  issues_url: url('URL of an issue; `:id` is replaced by its number'),
  new_issue_url: url('URL to create an issue'),
  title: optional(text()),
  description: optional(longText()),
  active: optional(boolean()),
};

const routesAt = (segment: 'integrations' | 'services') => [
  endpoint({
    method: 'GET',
    path: `/projects/:id/${segment}`,
    summary: 'List active integrations of a project (maintainers)',
    ...shared,
    list: true,
    params: object({ ...project, ...pageParams }),
    reply: integrationShape,
    handle: async (call, params) => {
      const { id } = await findProjectFor(call, params.id, 'admin_integration');
      const trackers = (await activeIntegrations(call.db, id)).map(integrationJson);
      const integrations = [...trackers, ...(await listChats(call.db, id))];
      const { limit, offset } = pageRequest(params);
      return { items: integrations.slice(offset, offset + limit), total: integrations.length };
    },
  }),
  endpoint({
    method: 'GET',
    path: `/projects/:id/${segment}/:slug`,
    summary: 'Get an integration of a project (maintainers)',
    ...shared,
    params: object(integrationParams),
    reply: singleIntegrationShape,
    handle: async (call, { id: projectId, slug }) => {
      const { id } = await findProjectFor(call, projectId, 'admin_integration');
      return isChat(slug)
        ? await showChat(call.db, id, slug)
        : singleIntegrationJson(await findIntegration(call.db, id, slug));
    },
  }),
  endpoint({
    method: 'PUT',
    path: `/projects/:id/${segment}/:slug`,
    summary: 'Set an integration of a project (maintainers)',
    ...shared,
    params: object({ ...integrationParams, ...settable }),
    reply: singleIntegrationShape,
    handle: async (call, { id, slug, ...params }) => {
      const project = await findProjectFor(call, id, 'admin_integration');
      return isChat(slug)
        ? await setChat(call, project.id, slug, params)
        : singleIntegrationJson(await setIntegration(call, project, slug, params));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `/projects/:id/${segment}/:slug`,
    summary: 'Disable an integration of a project (maintainers)',
    ...shared,
    params: object(integrationParams),
    reply: null,
    handle: async (call, { id, slug }) => {
      const project = await findProjectFor(call, id, 'admin_integration');
      if (isChat(slug)) await deleteChat(call, project.id, slug);
      else await deleteIntegration(call, project, slug);
    },
  }),
];

export const integrationRoutes = [...routesAt('integrations'), ...routesAt('services')];
