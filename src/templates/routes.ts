/** Templates of files for new projects: the same for everybody. */
import { endpoint } from '../access/call.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { array, bool, boolean, nullable, object, optional, string, text } from '../http/schema.ts';
import {
  type TemplateType,
  listLicenses,
  listTemplates,
  readLicense,
  readTemplate,
  templateTypes,
} from './files.ts';
import { fillPlaceholders } from './placeholders.ts';

const shared = { method: 'GET', area: 'templates', audience: 'anyone' } as const;
const key = text({ description: 'key of the template' });

const routesOfType = (type: TemplateType) => [
  endpoint({
    ...shared,
    path: `/templates/${type}`,
    summary: `Templates: ${type}`,
    list: true,
    params: object({ ...pageParams }),
    reply: object({ key: string, name: string }),
    handle: async (_call, params) => await listTemplates(type, pageRequest(params)),
  }),
  endpoint({
    ...shared,
    path: `/templates/${type}/:key`,
    summary: `One template: ${type}`,
    params: object({ key }),
    reply: object({ name: string, content: string }),
    refusals: [404],
    handle: async (_call, params) => await readTemplate(type, params.key),
  }),
];

const licenseShape = object({
  key: string,
  name: string,
  nickname: nullable(string),
  featured: bool,
  popular: bool,
  html_url: string,
  source_url: nullable(string),
  description: string,
  conditions: array(string),
  permissions: array(string),
  limitations: array(string),
  content: string,
});

const licenses = endpoint({
  ...shared,
  path: '/templates/licenses',
  summary: 'License texts',
  list: true,
  params: object({ popular: optional(boolean({ description: 'true: only popular ones' })), ...pageParams }),
  reply: licenseShape,
  handle: async (_call, { popular = false, ...params }) => await listLicenses(popular, pageRequest(params)),
});

const license = endpoint({
  ...shared,
  path: '/templates/licenses/:key',
  summary: 'One license text, with the placeholders replaced',
  params: object({
    key,
    project: optional(text({ description: 'name of the project' })),
    fullname: optional(text({ description: 'name of the copyright owner' })),
  }),
  reply: licenseShape,
  refusals: [404],
  handle: async ({ now }, { key: name, project, fullname }) => {
    const facts = await readLicense(name);
    const year = String(new Date(now).getUTCFullYear());
    return { ...facts, content: fillPlaceholders(facts.content, { year, project, fullname }) };
  },
});

export const templateRoutes = [...templateTypes.flatMap(routesOfType), licenses, license];
