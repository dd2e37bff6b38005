/** Reads the parameters of a request, once for an address that clients poll. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Failure, invalid } from '../../errors.ts';
import { makeLruCache } from '../../lru_cache.ts';
import { getReceivedFiles } from '../body/file_parts.ts';
import { credentialParams } from '../credential_params.ts';
import type { AnyEndpoint } from '../endpoint.ts';
import { type IgnoredParams, ignoredParamsHeader } from './ignored_params.ts';
import { type PageRequest, pageHeaders, pageRequest } from '../page.ts';
import type { ParamsReader, RawParams } from '../params.ts';

/** What reading the parameters of an endpoint needs, prepared when it is mounted. */
export type ReadEndpoint<C> = {
  endpoint: AnyEndpoint<C>;
  read: ParamsReader;
  /** Names of the parameters that are files. */
  files: readonly string[];
  ignored: IgnoredParams;
  defaults: Record<string, unknown>;
  /** Name of an integer parameter at the end of the path, which may be followed by `.json`. */
  lastParam: string | null;
};

const pathParams = (request: FastifyRequest, lastParam: string | null): Record<string, string> => {
  const params = request.params as Record<string, string>;
  const last = lastParam === null ? undefined : params[lastParam];
  if (lastParam === null || last?.endsWith('.json') !== true) return params;
  return { ...params, [lastParam]: last.slice(0, -'.json'.length) };
};

/** What follows from the address of a request alone. */
export type ParsedRequest = {
  endpoint: object;
  params: Record<string, unknown>;
  /** The parameters as a text. */
  key: string;
  ignored: string | null;
  pages: PageRequest | null;
  /** Every parameter for the links of pages. */
  linked: Record<string, unknown>;
  /** The last headers of pages, with what they were made for. */
  headers: { url: string; total: number; values: Record<string, string> } | null;
};

/** Requests whose parameters are not read again: clients poll the same addresses. */
const maxParsed = 1_000;
const maxParsedUrl = 500;
const parsedRequests = makeLruCache<ParsedRequest>(maxParsed, () => 1);

/** Whether the answer may be kept, and the address has no credentials. */
const isParsedOnce = <C>({ endpoint }: ReadEndpoint<C>, { url }: FastifyRequest, sent: RawParams): boolean =>
  endpoint.cached === true &&
  endpoint.withoutEffect === undefined &&
  url.length <= maxParsedUrl &&
  !Object.keys(sent).some((name) => credentialParams.has(name));

const parseRequest = <C>(
  mounted: ReadEndpoint<C>,
  request: FastifyRequest,
  sent: RawParams,
  ignored: string | null,
): ParsedRequest => {
  const { endpoint } = mounted;
  const path = pathParams(request, mounted.lastParam);
  const params = mounted.read({ ...sent, ...getReceivedFiles(sent, mounted.files), ...path });
  return {
    endpoint,
    params,
    key: endpoint.cached === true ? JSON.stringify(params) : '',
    ignored,
    pages: endpoint.list === true ? pageRequest(params) : null,
    linked: endpoint.list === true ? { ...mounted.defaults, ...sent, ...path } : {},
    headers: null,
  };
};

/** @param names as in the header of ignored parameters */
const refuseParams = (names: string): Failure =>
  invalid(
    Object.fromEntries(names.split(', ').map((name) => [name, ['is not a parameter of this endpoint']])),
  );

/** Reads the parameters, and sets the header of ignored ones, also if others are invalid. */
export const readParams = <C>(
  mounted: ReadEndpoint<C>,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  sent: RawParams,
  call: C,
): ParsedRequest => {
  const isKept = request.body === undefined && isParsedOnce(mounted, request, sent);
  const kept = isKept ? parsedRequests.get(request.url) : undefined;
  const reusable = kept?.endpoint === mounted.endpoint ? kept : undefined;
  const ignored =
    reusable === undefined
      ? mounted.ignored(sent, mounted.endpoint.withoutEffect?.(call) ?? [])
      : reusable.ignored;
  if (ignored !== null && mounted.endpoint.refusesUnknownParams === true) throw refuseParams(ignored);
  if (ignored !== null) void reply.header(ignoredParamsHeader, ignored);
  if (reusable !== undefined) return reusable;
  const parsed = parseRequest(mounted, request, sent, ignored);
  if (!isKept) return parsed;
  // Later requests share them.
  Object.freeze(parsed.params);
  parsedRequests.set(request.url, parsed);
  return parsed;
};

/** Returns the headers of a page of a list. */
export const getPageHeaders = (
  { baseUrl }: { baseUrl: string },
  request: FastifyRequest,
  parsed: ParsedRequest,
  { pages, total }: { pages: PageRequest; total: number },
): Record<string, string> => {
  const url = `${baseUrl}${request.url.split('?', 1)[0]}`;
  if (parsed.headers?.url === url && parsed.headers.total === total) return parsed.headers.values;
  const values = pageHeaders(url, parsed.linked, pages, total);
  parsed.headers = { url, total, values };
  return values;
};
