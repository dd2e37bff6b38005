import { type Call, requireActor } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { notFound } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { boolean, id, object, text } from '../../platform/http/schema.ts';
import { requireUnmodified } from '../../platform/http/precondition.ts';
import { createApplication } from './create_application.ts';
import { deleteApplication } from './delete_application.ts';
import { applicationJson, applicationShape, newApplicationShape } from './json.ts';
import { type Application, findApplication, listApplications } from './queries.ts';

const area = 'applications';

const load = async ({ db }: Call, id: number): Promise<Application> => {
  const application = await findApplication(db, id);
  if (application === undefined) throw notFound('Application');
  return application;
};

const create = endpoint({
  method: 'POST',
  path: '/applications',
  summary: 'Create an OAuth application of the instance (administrators)',
  area,
  audience: 'admin',
  params: object({
    name: text(),
    redirect_uri: text({ maxLength: 2_000, description: 'one or more, separated by whitespace' }),
    scopes: text({ description: 'separated by spaces' }),
    confidential: boolean({ description: 'true if the application can keep a secret', default: true }),
    trusted: boolean({ description: 'skip the consent page', default: false }),
  }),
  reply: newApplicationShape,
  handle: async (call, params) => {
    const made = await createApplication(call.platform, requireActor(call), call, {
      ...params,
      owner_id: null,
    });
    return { ...applicationJson(await load(call, made.id)), secret: made.secret };
  },
});

const list = endpoint({
  method: 'GET',
  path: '/applications',
  summary: 'List OAuth applications (administrators)',
  area,
  audience: 'admin',
  list: true,
  params: object(pageParams),
  reply: applicationShape,
  handle: async ({ db }, params) => {
    const { items, total } = await listApplications(db, pageRequest(params));
    return { items: items.map(applicationJson), total };
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/applications/:id',
  summary: 'Delete an OAuth application and its tokens (administrators)',
  area,
  audience: 'admin',
  params: object({ id: id() }),
  reply: null,
  handle: async (call, params) => {
    const application = await load(call, params.id);
    requireUnmodified(call.header('if-unmodified-since'), application.created_at);
    await deleteApplication(call.platform.store, requireActor(call), call, application);
  },
});

export const applicationRoutes = [create, list, remove];
