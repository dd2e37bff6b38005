/** Adds a route for each declared endpoint. */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Failure, forbidden, unauthorized } from '../errors.ts';
import { maxBodyBytes, maxQueryBytes, parseBody } from './body/parse_body.ts';
import {
  Answer,
  type AnyEndpoint,
  type Audience,
  JsonText,
  type Method,
  statusOfEndpoint,
} from './endpoint.ts';
import { discardBody } from './body/discard_body.ts';
import { getFileParams } from './body/file_parts.ts';
import { readLargeBody, releaseLargeBody } from './body/large_bodies.ts';
import { asFailure, methodNotAllowed, tooLong, unreadable } from './failure.ts';
import type { Page } from './page.ts';
import { ignoredParams } from './parameters/ignored_params.ts';
import { type RawParams, paramsReader } from './params.ts';
import { type ReadEndpoint, getPageHeaders, readParams } from './parameters/read_params.ts';
import type { RouteTable } from './route_table.ts';
import { type Serialize, lazyListSerializer, lazySerializer } from './serializer.ts';

export const apiPrefix = '/api/v4';

/** Properties that every kind of call has. */
export type BaseCall = {
  /** True if a user is signed in; true if the user is an administrator. */
  signedIn: boolean;
  admin: boolean;
  baseUrl: string;
  /** Returns the answer of an endpoint if it is kept (`Endpoint.cached`), or loads it. @param params as a text */
  keepAnswer: (name: string, params: string, load: () => Promise<AnswerText>) => Promise<AnswerText>;
  /** Runs expensive work, of which few at once for all anonymous callers. @throws Failure 429 */
  runExpensive: <T>(work: () => Promise<T>) => Promise<T>;
  /** Returns `Poll-Interval` for a resource that clients poll every so many milliseconds. */
  pollInterval: (milliseconds: number) => string;
};

/** An answer of JSON. `total`: number of records in the whole list; null unless it is a list. */
export type AnswerText = { text: JsonText; total: number | null };

export type OpenCall<C extends BaseCall> = (
  request: FastifyRequest,
  sent: RawParams,
  endpoint: AnyEndpoint<C>,
) => Promise<C>;

type Mounted<C> = ReadEndpoint<C> & {
  serialize: Serialize;
  serializeList: (items: readonly unknown[]) => JsonText;
};

const lastIntegerParam = (endpoint: AnyEndpoint<unknown>): string | null => {
  const name = endpoint.path.split('/').at(-1)?.replace(/^:/, '') ?? '';
  const property: { type?: unknown } | undefined = endpoint.params.properties[name];
  return property?.type === 'integer' ? name : null;
};

const prepare = <C>(endpoint: AnyEndpoint<C>): Mounted<C> => {
  const properties = Object.entries(endpoint.params.properties) as [string, { default?: unknown }][];
  return {
    endpoint,
    read: paramsReader(endpoint.params),
    files: getFileParams(endpoint.params),
    ignored: ignoredParams(endpoint.params),
    defaults: Object.fromEntries(
      properties.filter(([, p]) => p.default !== undefined).map(([n, p]) => [n, p.default]),
    ),
    serialize: lazySerializer(endpoint.reply ?? {}),
    serializeList: lazyListSerializer(endpoint.reply ?? {}),
    lastParam: lastIntegerParam(endpoint as AnyEndpoint<unknown>),
  };
};

/** Checks the audience: 401 before 403, both before any error in parameters. */
const admit = (audience: Audience, call: BaseCall): void => {
  if (audience === 'anyone' || audience === 'optional') return;
  if (!call.signedIn) throw unauthorized();
  if (audience === 'admin' && !call.admin) throw forbidden();
};

/** Parses the parameters of the body, or returns the failure: only authorized callers receive it. */
const tryBody = async (
  request: FastifyRequest,
  body: Buffer,
  keepsFiles: boolean,
): Promise<RawParams | Failure> => {
  try {
    return await parseBody(request.method, request.headers['content-type'], body, keepsFiles);
  } catch (error) {
    const failure = asFailure(error);
    if (failure === null) throw error;
    return failure;
  }
};

const getQuery = (url: string): string => (url.includes('?') ? url.slice(url.indexOf('?') + 1) : '');

const isFailure = (value: RawParams | Failure): value is Failure => value instanceof Error;

/** Reads the body. One past the usual limit is read only if the headers authorize the caller. */
const readRequestBody = async <C extends BaseCall>(
  { endpoint }: Mounted<C>,
  open: OpenCall<C>,
  request: FastifyRequest,
): Promise<Buffer | undefined> => {
  if (endpoint.maxRequestBytes === undefined) return request.body as Buffer | undefined;
  if (!(Number(request.headers['content-length'] ?? NaN) <= maxBodyBytes)) {
    admit(endpoint.audience, await open(request, request.query as RawParams, endpoint));
  }
  return await readLargeBody(request, endpoint.maxRequestBytes);
};

const serve = async <C extends BaseCall>(
  mounted: Mounted<C>,
  open: OpenCall<C>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> => {
  const { endpoint } = mounted;
  if (getQuery(request.url).length > maxQueryBytes) throw tooLong();
  const bytes = await readRequestBody(mounted, open, request);
  const body = bytes === undefined ? {} : await tryBody(request, bytes, mounted.files.length > 0);
  const sent = { ...(request.query as RawParams), ...(isFailure(body) ? {} : body) };
  const call = await open(request, sent, endpoint);
  admit(endpoint.audience, call);
  if (isFailure(body)) throw body;
  const parsed = readParams(mounted, { request, reply }, sent, call);
  const { params, pages } = parsed;
  if (endpoint.polled !== undefined) {
    void reply.header('poll-interval', call.pollInterval(endpoint.polled));
  }
  const handle = async (): Promise<unknown> =>
    endpoint.isExpensive === true
      ? await call.runExpensive(async () => await endpoint.handle(call, params))
      : await endpoint.handle(call, params);
  if (pages === null && endpoint.cached !== true) {
    return send(mounted, request, reply, await handle());
  }
  const load = async (): Promise<AnswerText> => toText(mounted, await handle());
  const { text, total } =
    endpoint.cached === true ? await call.keepAnswer(endpoint.path, parsed.key, load) : await load();
  if (pages !== null && total !== null) {
    void reply.headers(getPageHeaders(call, request, parsed, { pages, total }));
  }
  return sendJson(request, reply, statusOfEndpoint(endpoint), text);
};

const toText = <C>({ endpoint, serialize, serializeList }: Mounted<C>, answer: unknown): AnswerText => {
  if (endpoint.list !== true) return { text: serialize(answer), total: null };
  const { items, total } = answer as Page<unknown>;
  return { text: serializeList(items), total };
};

const send = <C>(
  mounted: Mounted<C>,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: unknown,
): FastifyReply => {
  const usual = statusOfEndpoint(mounted.endpoint);
  if (answer instanceof Answer) return sendAnswer(mounted, request, reply, answer);
  if (mounted.endpoint.reply === null) return reply.code(usual).send();
  return sendJson(request, reply, usual, mounted.serialize(answer));
};

const sendAnswer = <C>(
  mounted: Mounted<C>,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
): FastifyReply => {
  const status = answer.status ?? statusOfEndpoint(mounted.endpoint);
  void reply.headers(answer.headers);
  const { body, onSent } = answer;
  if (onSent !== undefined) {
    if (reply.raw.destroyed || reply.raw.socket?.destroyed === true) onSent(false);
    else reply.raw.once('close', () => onSent(reply.raw.writableFinished));
  }
  if (body === null) return reply.code(status).send();
  if (body instanceof JsonText) return sendJson(request, reply, status, body);
  if (typeof body === 'string' || Buffer.isBuffer(body) || body instanceof Readable) {
    return reply.code(status).send(body);
  }
  return sendJson(request, reply, status, new JsonText(JSON.stringify(body)));
};

/** Without a serializer of its own, Fastify adds a charset to the content type of a text. */
const sendAsIs = (text: unknown): string => text as string;

/** Sends JSON with exactly `application/json`; for a GET with a weak ETag, compared with `If-None-Match`. */
const sendJson = (
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  text: JsonText,
): FastifyReply => {
  if (request.method === 'GET' || request.method === 'HEAD') {
    const etag = `W/"${text.digest}"`;
    void reply.header('etag', etag);
    if (request.headers['if-none-match']?.split(',').some((one) => one.trim() === etag) === true) {
      return reply.code(304).send();
    }
  }
  return reply
    .code(status)
    .header('content-type', 'application/json')
    .serializer(sendAsIs)
    .send(text.payload);
};

/** Answers OPTIONS with the available methods, and any other undeclared method with 405. */
const mountOtherMethods = (routes: RouteTable, url: string, offered: Method[]): void => {
  const allow = [...new Set(['OPTIONS', ...offered, ...(offered.includes('GET') ? ['HEAD'] : [])])];
  const header = allow.join(', ');
  routes.add({
    method: 'OPTIONS',
    url,
    handler: (_request, reply) => reply.code(204).header('allow', header).send(),
  });
  routes.add({
    method: '*',
    url,
    handler: () => {
      throw methodNotAllowed(header);
    },
  });
};

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Returns whether a handler failed because the client left before it had sent the whole body. */
const isAborted = (error: unknown, { raw }: FastifyRequest): boolean =>
  raw.destroyed && !raw.complete && (error as NodeJS.ErrnoException).code === 'ECONNRESET';

/** Discards the rest of a refused request's body, and closes the connection if the rest is long. */
export const discardingRest =
  (handler: Handler): Handler =>
  async (request, reply) => {
    try {
      return await handler(request, reply);
    } catch (error) {
      if (!(await discardBody(request.raw))) void reply.header('connection', 'close');
      throw isAborted(error, request) ? unreadable() : error;
    } finally {
      releaseLargeBody(request);
    }
  };

/** Prepares an endpoint at its first request: so that the service starts faster. */
const lazily = <T>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => (made ??= make());
};

export const mountEndpoints = <C extends BaseCall>(
  routes: RouteTable,
  endpoints: readonly AnyEndpoint<C>[],
  open: OpenCall<C>,
  prefix = apiPrefix,
): void => {
  const offered = new Map<string, Method[]>();
  for (const endpoint of endpoints) {
    const { method } = endpoint;
    const mounted = lazily(() => prepare(endpoint));
    const url = prefix + endpoint.path;
    offered.getOrInsertComputed(url, () => []).push(method);
    const handler: Handler = async (request, reply) => await serve(mounted(), open, request, reply);
    const streams = endpoint.body === 'stream' || endpoint.maxRequestBytes !== undefined;
    routes.add({ method, url, streams, handler: streams ? discardingRest(handler) : handler });
  }
  for (const [url, methods] of offered) mountOtherMethods(routes, url, methods);
};

/** Returns the literal words that end a path. `.json` may follow only these. */
export const finalWords = (endpoints: readonly AnyEndpoint<never>[]): Set<string> =>
  new Set(endpoints.map(({ path }) => path.split('/').at(-1) ?? '').filter((word) => !word.startsWith(':')));
