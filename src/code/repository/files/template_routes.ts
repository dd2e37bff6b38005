/** Routes of description templates, read from the default branch of the project. */
import { endpoint } from '../../../core/access/endpoint.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { object, string, text } from '../../../platform/http/schema.ts';
import { findCode, projectParam } from '../find_code.ts';
import { type DescriptionType, findTemplates, readTemplate } from './description_templates.ts';

const shared = { method: 'GET', area: 'templates', audience: 'optional' } as const;

const routesOfType = (type: DescriptionType, noun: string) => [
  endpoint({
    ...shared,
    path: `/projects/:id/templates/${type}`,
    summary: `List templates for descriptions of ${noun}`,
    list: true,
    params: object({ id: projectParam, ...pageParams }),
    reply: object({ key: string, name: string }),
    handle: async (call, params) => {
      const templates = await findTemplates(await findCode(call, params.id), type);
      const names = templates?.names ?? [];
      const { limit, offset } = pageRequest(params);
      const items = names.slice(offset, offset + limit).map((name) => ({ key: name, name }));
      return { items, total: names.length };
    },
  }),
  endpoint({
    ...shared,
    path: `/projects/:id/templates/${type}/:name`,
    summary: `Get a template for descriptions of ${noun}`,
    params: object({ id: projectParam, name: text({ description: 'key of the template' }) }),
    reply: object({ name: string, content: string }),
    handle: async (call, { id, name }) => await readTemplate(await findCode(call, id), type, name),
  }),
];

export const descriptionTemplateRoutes = [
  ...routesOfType('issues', 'issues'),
  ...routesOfType('merge_requests', 'merge requests'),
];
