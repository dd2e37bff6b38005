/** Endpoints of file templates below a project. */
import { endpoint } from '../../core/access/endpoint.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { idOrPath, object, string } from '../../platform/http/schema.ts';
import { findProject } from '../projects/find.ts';
import { type TemplateType, listLicenses, listTemplates, readTemplate, templateTypes } from './files.ts';
import { fillLicense, licensePlaceholders, licenseShape, templateKey } from './routes.ts';

const shared = { method: 'GET', area: 'templates', audience: 'optional' } as const;
const id = idOrPath('id or full path of the project');

const routesOfType = (type: TemplateType) => [
  endpoint({
    ...shared,
    path: `/projects/:id/templates/${type}`,
    summary: `List templates for a project: ${type}`,
    list: true,
    params: object({ id, ...pageParams }),
    reply: object({ key: string, name: string }),
    handle: async (call, params) => {
      await findProject(call, params.id);
      return await listTemplates(type, pageRequest(params));
    },
  }),
  endpoint({
    ...shared,
    path: `/projects/:id/templates/${type}/:name`,
    summary: `Get a template for a project: ${type}`,
    params: object({ id, name: templateKey }),
    reply: object({ name: string, content: string }),
    handle: async (call, params) => {
      await findProject(call, params.id);
      return await readTemplate(type, params.name);
    },
  }),
];

const licenses = endpoint({
  ...shared,
  path: '/projects/:id/templates/licenses',
  summary: 'List license templates for a project',
  list: true,
  params: object({ id, ...pageParams }),
  reply: object({ key: string, name: string }),
  handle: async (call, params) => {
    await findProject(call, params.id);
    return await listLicenses(false, pageRequest(params));
  },
});

const license = endpoint({
  ...shared,
  path: '/projects/:id/templates/licenses/:name',
  summary: 'Get a license template for a project, with placeholders replaced',
  params: object({ id, name: templateKey, ...licensePlaceholders }),
  reply: licenseShape,
  handle: async (call, params) => {
    await findProject(call, params.id);
    const isNamed = params.fullname !== undefined && params.fullname !== '';
    const fullname = isNamed ? params.fullname : call.actor?.user.name;
    return await fillLicense(call, params.name, { project: params.project, fullname });
  },
});

export const projectTemplateRoutes = [...templateTypes.flatMap(routesOfType), licenses, license];
