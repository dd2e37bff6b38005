/** Serves the API's documentation, derived from the declared endpoints: `/api/v4/openapi.json` and `/-/docs/api`. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { Failure } from '../../../platform/errors.ts';
import { type AnyEndpoint, JsonText } from '../../../platform/http/endpoint.ts';
import { apiPrefix } from '../../../platform/http/mount.ts';
import type { OpenApi } from '../../../platform/http/openapi/document.ts';
import type { RouteTable } from '../../../platform/http/route_table.ts';
import { getBaseUrl } from '../../../platform/http/origin.ts';
import { anything, object } from '../../../platform/http/schema.ts';
import { version } from '../../../platform/version.ts';

type Endpoints = readonly AnyEndpoint<Call>[];

/** Documents by list of endpoints, built at the first request, which also loads the builder. */
const documents = new WeakMap<Endpoints, OpenApi>();

const documentOf = async (endpoints: Endpoints): Promise<OpenApi> => {
  const known = documents.get(endpoints);
  if (known !== undefined) return known;
  const { openApiDocument } = await import('../../../platform/http/openapi/document.ts');
  const document = openApiDocument(endpoints, version);
  documents.set(endpoints, document);
  return document;
};

/** Formats the document as JSON, for `docs/openapi.json` and the API. */
export const openApiText = async (endpoints: Endpoints): Promise<string> =>
  `${JSON.stringify(await documentOf(endpoints), null, 2)}\n`;

/** @param endpoints returns all endpoints, including this one, once the list is complete */
export const docsRoutes = (endpoints: () => Endpoints): AnyEndpoint<Call>[] => {
  let text: JsonText | undefined;
  return [
    endpoint({
      method: 'GET',
      path: '/openapi.json',
      summary: 'Get the OpenAPI 3.1 document of this API',
      area: 'instance',
      audience: 'anyone',
      params: object({}),
      reply: anything,
      handle: async () => (text ??= new JsonText(await openApiText(endpoints()))),
    }),
  ];
};

/** No scripts, frames or forms: only the stylesheet. */
const docsPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const mountDocs = (routes: RouteTable, endpoints: Endpoints, externalUrl: string | null): void => {
  // Cached for the last requested host, which nearly always stays the same.
  let last = { base: '', pages: new Map<string | null, string | null>() };
  const serve = async (request: FastifyRequest, reply: FastifyReply, area: string | null) => {
    const base = getBaseUrl(request, externalUrl) + apiPrefix;
    const { docsPage } = await import('./reference_page.ts');
    if (last.base !== base) last = { base, pages: new Map() };
    const page = last.pages.get(area) ?? docsPage(await documentOf(endpoints), base, area);
    if (page === null) throw new Failure('not_found', { message: '404 Not Found' });
    last.pages.set(area, page);
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': docsPolicy };
    return await reply.headers(headers).send(page);
  };
  routes.add({
    method: 'GET',
    url: '/-/docs/api',
    handler: async (request, reply) => await serve(request, reply, null),
  });
  routes.add({
    method: 'GET',
    url: '/-/docs/api/:area',
    handler: async (request, reply) => await serve(request, reply, (request.params as { area: string }).area),
  });
};
