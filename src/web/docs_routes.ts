/** The API's documentation, made of the declared endpoints: `/api/v4/openapi.json` and `/-/docs/api`. */
import type { FastifyInstance } from 'fastify';
import { type Call, endpoint } from '../access/call.ts';
import { type AnyEndpoint, JsonText } from '../http/endpoint.ts';
import { apiPrefix } from '../http/mount.ts';
import type { OpenApi } from '../http/openapi.ts';
import { baseUrlOf } from '../http/origin.ts';
import { anything, object } from '../http/schema.ts';
import { version } from '../version.ts';

type Endpoints = readonly AnyEndpoint<Call>[];

/** Made once for each list of endpoints, when somebody first reads it; what makes it is loaded then, too. */
const documents = new WeakMap<Endpoints, OpenApi>();

const documentOf = async (endpoints: Endpoints): Promise<OpenApi> => {
  const known = documents.get(endpoints);
  if (known !== undefined) return known;
  const { openApiDocument } = await import('../http/openapi.ts');
  const document = openApiDocument(endpoints, version);
  documents.set(endpoints, document);
  return document;
};

/** The document as a file: for `docs/openapi.json`, and what the API answers. */
export const openApiText = async (endpoints: Endpoints): Promise<string> =>
  `${JSON.stringify(await documentOf(endpoints), null, 2)}\n`;

/** @param endpoints all of them, this one too: asked for when they are complete */
export const docsRoutes = (endpoints: () => Endpoints): AnyEndpoint<Call>[] => {
  let text: JsonText | undefined;
  return [
    endpoint({
      method: 'GET',
      path: '/openapi.json',
      summary: 'This API as an OpenAPI 3.1 document',
      area: 'instance',
      audience: 'anyone',
      params: object({}),
      reply: anything,
      handle: async () => (text ??= new JsonText(await openApiText(endpoints()))),
    }),
  ];
};

export const mountDocs = (app: FastifyInstance, endpoints: Endpoints, externalUrl: string | null): void => {
  // The examples name the host that is asked; nearly always it is the same.
  let last = { base: '', page: '' };
  app.get('/-/docs/api', async (request, reply) => {
    const base = baseUrlOf(request, externalUrl) + apiPrefix;
    const [{ docsPage }, { docsPolicy }] = await Promise.all([
      import('./docs_page.ts'),
      import('./docs_style.ts'),
    ]);
    if (last.base !== base) last = { base, page: docsPage(await documentOf(endpoints), base) };
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': docsPolicy };
    return await reply.headers(headers).send(last.page);
  });
};
