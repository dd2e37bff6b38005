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
  summary: 'Register an OAuth application of the instance',
  area,
  audience: 'admin',
  params: object({
    name: text(),
    redirect_uri: text({ maxLength: 2_000, description: 'one or several, with blanks or line ends between' }),
    scopes: text({ description: 'with blanks between' }),
    confidential: boolean({ description: 'whether it can keep its secret', default: true }),
    trusted: boolean({ description: 'users are not asked for their consent', default: false }),
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
  summary: 'OAuth applications, of the instance and of users',
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
  summary: 'Delete an OAuth application, with all its tokens',
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
