import { endpoint } from '../../core/access/endpoint.ts';
import type { Platform } from '../../core/platform.ts';
import { JsonText } from '../../platform/http/endpoint.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';
import { bool, nullable, object, string } from '../../platform/http/schema.ts';

/** The answer of `/version`, the same as long as the service runs: clients ask it to see whether they are signed in. */
const getVersionText = memoizePerStore(
  ({ version, revision }: Platform) => new JsonText(JSON.stringify({ version, revision })),
);

const version = endpoint({
  method: 'GET',
  path: '/version',
  summary: 'Get the version of the service',
  area: 'instance',
  audience: 'user',
  scopes: ['read_user'],
  params: object({}),
  reply: object({ version: string, revision: string }),
  handle: async ({ platform }) => getVersionText(platform),
});

/** Newer clients request this instead of the version. Gantry has no Kubernetes integration. */
const metadata = endpoint({
  method: 'GET',
  path: '/metadata',
  summary: 'Get metadata of the service',
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
