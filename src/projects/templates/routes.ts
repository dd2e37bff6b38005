/** Endpoints of file templates for new projects, the same for everybody. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  array,
  bool,
  boolean,
  nullable,
  object,
  optional,
  string,
  text,
} from '../../platform/http/schema.ts';
import {
  type License,
  type TemplateType,
  listLicenses,
  listTemplates,
  readLicense,
  readTemplate,
  templateTypes,
} from './files.ts';
import { type Values, fillPlaceholders } from './placeholders.ts';

const shared = { method: 'GET', area: 'templates', audience: 'anyone' } as const;
export const templateKey = text({ description: 'key of the template' });

const routesOfType = (type: TemplateType) => [
  endpoint({
    ...shared,
    path: `/templates/${type}`,
    summary: `List templates: ${type}`,
    list: true,
    params: object({ ...pageParams }),
    reply: object({ key: string, name: string }),
    handle: async (_call, params) => await listTemplates(type, pageRequest(params)),
  }),
  endpoint({
    ...shared,
    path: `/templates/${type}/:key`,
    summary: `Get a template: ${type}`,
    params: object({ key: templateKey }),
    reply: object({ name: string, content: string }),
    refusals: [404],
    handle: async (_call, params) => await readTemplate(type, params.key),
  }),
];

export const licenseShape = object({
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

export const licensePlaceholders = {
  project: optional(text({ description: 'name of the project' })),
  fullname: optional(text({ description: 'name of the copyright owner' })),
};

/**
 * Loads a license with the placeholders of its text replaced.
 * @throws Failure 404 for an unknown key
 */
export const fillLicense = async (
  { now }: Pick<Call, 'now'>,
  key: string,
  values: Omit<Values, 'year'>,
): Promise<License> => {
  const facts = await readLicense(key);
  const year = String(new Date(now).getUTCFullYear());
  return { ...facts, content: fillPlaceholders(facts.content, { ...values, year }) };
};

const licenses = endpoint({
  ...shared,
  path: '/templates/licenses',
  summary: 'List license templates',
  list: true,
  params: object({
    popular: optional(boolean({ description: 'true: only popular licenses' })),
    ...pageParams,
  }),
  reply: licenseShape,
  handle: async (_call, { popular = false, ...params }) => await listLicenses(popular, pageRequest(params)),
});

const license = endpoint({
  ...shared,
  path: '/templates/licenses/:key',
  summary: 'Get a license template, with placeholders replaced',
  params: object({
    key: templateKey,
    ...licensePlaceholders,
  }),
  reply: licenseShape,
  refusals: [404],
  handle: async (call, { key, project, fullname }) => await fillLicense(call, key, { project, fullname }),
});

export const templateRoutes = [...templateTypes.flatMap(routesOfType), licenses, license];
