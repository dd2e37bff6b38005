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
  url: url('of Jira'),
  api_url: url('of the API of Jira, where it is another'),
  username: optional(text()),
  password: optional(text({ description: 'kept sealed, shown to nobody' })),
  project_key: optional(text()),
  jira_issue_transition_id: optional(text()),
  project_url: url('of the project there'),
  issues_url: url('of an issue, `:id` standing for its number'),
  new_issue_url: url('where issues are made'),
  title: optional(text()),
  description: optional(longText()),
  active: optional(boolean()),
};

const routesAt = (segment: 'integrations' | 'services') => [
  endpoint({
    method: 'GET',
    path: `/projects/:id/${segment}`,
    summary: 'Active integrations of a project (masters)',
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
    summary: 'One integration of a project (masters)',
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
    summary: 'Connect a project with an external issue tracker (masters)',
    ...shared,
    params: object({ ...one, ...settable }),
    reply: singleIntegrationShape,
    handle: async (call, { id, slug, ...input }) => {
      const project = await findProjectFor(call, id, 'admin_integration');
      return singleIntegrationJson(await setIntegration(call, project, slug, input));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `/projects/:id/${segment}/:slug`,
    summary: 'End an integration of a project (masters)',
    ...shared,
    params: object(one),
    reply: null,
    handle: async (call, { id, slug }) => {
      await deleteIntegration(call, await findProjectFor(call, id, 'admin_integration'), slug);
    },
  }),
];

export const integrationRoutes = [...routesAt('integrations'), ...routesAt('services')];
