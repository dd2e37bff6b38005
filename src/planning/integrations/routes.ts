/** Endpoints of external issue trackers: `/integrations`, and `/services` as in version 10.0. */
import { endpoint } from '../../core/access/endpoint.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { boolean, idOrPath, longText, object, oneOf, optional, text } from '../../platform/http/schema.ts';
import { findProjectFor } from '../../projects/projects/find.ts';
import { integrationJson, integrationShape, singleIntegrationJson, singleIntegrationShape } from './json.ts';
import { activeIntegrations, findIntegration } from './queries.ts';
import { deleteIntegration, setIntegration } from './set_integration.ts';
import { slugs } from './trackers.ts';

const shared = { area: 'integrations', audience: 'user' } as const;
const project = { id: idOrPath('project') };
const one = { ...project, slug: oneOf(slugs) };
const url = (description: string) => optional(text({ maxLength: 2048, description }));

const settable = {
  url: url('user name at Jira'),
  api_url: url('URL of the Jira API, if different'),
  username: optional(text()),
  password: optional(text({ description: 'stored encrypted, never shown' })),
  project_key: optional(text()),
  jira_issue_transition_id: optional(text()),
  project_url: url('key of the Jira project'),
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
      const all = await activeIntegrations(call.db, id);
      const { limit, offset } = pageRequest(params);
      return { items: all.slice(offset, offset + limit).map(integrationJson), total: all.length };
    },
  }),
  endpoint({
    method: 'GET',
    path: `/projects/:id/${segment}/:slug`,
    summary: 'Get an integration of a project (maintainers)',
    ...shared,
    params: object(one),
    reply: singleIntegrationShape,
    handle: async (call, { id: projectId, slug }) => {
      const { id } = await findProjectFor(call, projectId, 'admin_integration');
      return singleIntegrationJson(await findIntegration(call.db, id, slug));
    },
  }),
  endpoint({
    method: 'PUT',
    path: `/projects/:id/${segment}/:slug`,
    summary: 'Set an integration of a project (maintainers)',
    ...shared,
    params: object({ ...one, ...settable }),
    reply: singleIntegrationShape,
    handle: async (call, { id, slug, ...params }) => {
      const project = await findProjectFor(call, id, 'admin_integration');
      return singleIntegrationJson(await setIntegration(call, project, slug, params));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `/projects/:id/${segment}/:slug`,
    summary: 'Disable an integration of a project (maintainers)',
    ...shared,
    params: object(one),
    reply: null,
    handle: async (call, { id, slug }) => {
      await deleteIntegration(call, await findProjectFor(call, id, 'admin_integration'), slug);
    },
  }),
];

export const integrationRoutes = [...routesAt('integrations'), ...routesAt('services')];
