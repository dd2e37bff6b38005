import { endpoint } from '../access/call.ts';
import { bool, nullable, object, string } from '../http/schema.ts';

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

/** What newer clients ask in place of the version. Kubernetes is nothing that Gantry knows of. */
const metadata = endpoint({
  method: 'GET',
  path: '/metadata',
  summary: 'What the service is',
  area: 'instance',
  audience: 'user',
  scopes: ['read_user'],
  params: object({}),
  reply: object({
    version: string,
    revision: string,
    kas: object({
      enabled: bool,
      externalUrl: nullable(string),
      externalK8sProxyUrl: nullable(string),
      version: nullable(string),
    }),
    enterprise: bool,
  }),
  handle: async ({ platform: { version: number, revision } }) => ({
    version: number,
    revision,
    kas: { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null },
    enterprise: false,
  }),
});

export const instanceRoutes = [version, metadata];
