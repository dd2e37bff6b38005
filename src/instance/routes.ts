import { endpoint } from '../access/call.ts';
import { object, string } from '../http/schema.ts';

const version = endpoint({
  method: 'GET',
  path: '/version',
  summary: 'Version of the service',
  area: 'instance',
  audience: 'user',
  scopes: ['read_user'],
  params: object({}),
  reply: object({ version: string, revision: string }),
  handle: async ({ platform }) => ({ version: platform.version, revision: platform.revision }),
});

export const instanceRoutes = [version];
