/** Builds the HTTP server: limits, headers, errors, logs. `route_table.ts` finds the route of a request. */
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  fastify,
} from 'fastify';
import type { Logger } from 'pino';
import { type Meter, runMetered } from '../db/statement_meter.ts';
import type { Failure } from '../errors.ts';
import { maxBodyBytes } from './body/parse_body.ts';
import { answerMalformedRequest } from './malformed_requests.ts';
import { parseForm } from './body/form.ts';
import { readBody } from './body/read_body.ts';
import { asFailure, unknownRoute, unreadable } from './failure.ts';
import { getRoute, logRequests, makeMeter } from './monitoring/log_requests.ts';
import type { Metrics } from './monitoring/metrics.ts';
import { getRequestId } from './monitoring/request_ids.ts';
import { apiPrefix } from './mount.ts';
import type { RouteTable } from './route_table.ts';
import { limitBodies } from './body/body_timeout.ts';
import { isAmbiguous } from './origin.ts';
import type { Tracer } from '../tracing/tracer.ts';
import { addCors } from './cors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    meter: Meter;
    /** Signed-in user, for the log. */
    userId: number | null;
  }
}

export type RenderFailurePage = (
  request: FastifyRequest,
  failure: Failure | null,
) => Promise<{ body: string; headers: Record<string, string> } | null>;

export type ServerOptions = {
  log: Logger;
  metrics: Metrics;
  /** null: nothing is traced. */
  tracer?: Tracer | null;
  routes: RouteTable;
  trustedProxies: string[];
  /** Path words that `.json` may follow. */
  finalWords: Set<string>;
  /** Converts a store error, such as a full disk, into a failure. */
  storeFailure: (error: unknown) => Failure | null;
  /** Renders a failure (null: an unexpected error) as a page; null if the request does not come from a person. */
  failurePage: RenderFailurePage;
  /** Maps a path to another one that is served in its place; returns the same path if none is. */
  rewritePath?: (path: string) => string;
  /** Milliseconds that a client has for the head and for the body of a request, and between two checks of the head. */
  timeouts?: { head: number; request: number; check: number };
};

const defaultTimeouts = { head: 10_000, request: 30_000, check: 2_000 };
/** Milliseconds without traffic after which a connection is cut, such as one whose client does not read. */
const maxSilenceMilliseconds = 120_000;
const maxConnections = 10_000;

/** Paths that pages of other sites may request. None of them accepts cookies from other sites. */
const openToPages = [`${apiPrefix}/`, '/oauth/token', '/oauth/revoke', '/.well-known/oauth-'];

const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'max-age=0, private, must-revalidate',
  vary: 'Origin, Authorization, Private-Token, Cookie',
};

/** Paths that end with the name of a file or a ref, which may itself end in `.json`. */
const namesFile =
  /\/repository\/(?:files|branches|tags|commits|archive)\/|\/protected_(?:branches|tags)\/|\/jobs\/(?:\d+\/artifacts|artifacts)\//;

/**
 * Normalizes a path: merges slashes, drops a trailing `/`, and drops `.json` after a literal word. Ignores scheme and
 * host of an absolute URL, as sent to proxies.
 */
const squeezePath = (target: string, { finalWords, rewritePath }: ServerOptions): string => {
  const url = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '') || '/';
  const mark = url.indexOf('?');
  const path = mark === -1 ? url : url.slice(0, mark);
  let clean = path.includes('//') ? path.replace(/\/{2,}/g, '/') : path;
  if (clean.length > 1 && clean.endsWith('/')) clean = clean.slice(0, -1);
  if (clean.endsWith('.json')) {
    const bare = clean.slice(0, -'.json'.length);
    if (!namesFile.test(bare) && finalWords.has(bare.slice(bare.lastIndexOf('/') + 1))) clean = bare;
  }
  clean = rewritePath?.(clean) ?? clean;
  return mark === -1 ? clean : clean + url.slice(mark);
};

const failureBody = (reply: FastifyReply, failure: Failure): FastifyReply => {
  void reply.code(failure.status).headers(failure.headers);
  // A response before the body was read leaves bytes on the connection that are not a request.
  if (failure.kind === 'too_large') void reply.header('connection', 'close');
  if (failure.body === null) return reply.send();
  void reply.header('content-type', 'application/json');
  return reply.send(Buffer.from(JSON.stringify(failure.body)));
};

const answerFailure = async (
  { failurePage }: ServerOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  failure: Failure,
): Promise<FastifyReply> => {
  const page = await failurePage(request, failure);
  if (page === null) return failureBody(reply, failure);
  return reply
    .code(failure.status)
    .headers({ ...failure.headers, ...page.headers })
    .send(page.body);
};

const handleError = (options: ServerOptions) => {
  return async (error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const failure = asFailure(error, request.headers['content-type']) ?? options.storeFailure(error);
    if (failure !== null) return await answerFailure(options, request, reply, failure);
    request.log.error({ err: error, request_id: request.id, route: getRoute(request) }, 'unexpected error');
    const page = await options.failurePage(request, null);
    if (page !== null) return reply.code(500).headers(page.headers).send(page.body);
    const body = { message: '500 Internal Server Error' };
    return reply
      .code(500)
      .header('content-type', 'application/json')
      .send(Buffer.from(JSON.stringify(body)));
  };
};

/** Reads a body, unless the handler of the route does. */
const readBodies = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (request: FastifyRequest) =>
    request.route?.streams === true ? undefined : await readBody(request.raw, maxBodyBytes),
  );
};

/** Methods that can have a route, in addition to HEAD. Any other method is treated as a method without endpoints. */
const routedMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
const allMethods = new Set(['HEAD', 'CONNECT', ...routedMethods]);

/** Hands every request to the route that the table has for it. Fastify adds HEAD, which sends no body. */
const serveRoutes = (app: FastifyInstance): void => {
  app.route({
    method: [...routedMethods],
    url: '*',
    handler: (request, reply) => {
      if (request.route === undefined) throw unknownRoute();
      return request.route.handler(request, reply);
    },
  });
};

/** Our declarations parse and serialize, so Fastify's compilers are not loaded. */
const noSchemas = () => () => {
  throw new Error('Fastify must not compile schemas');
};

export const makeServer = (options: ServerOptions): FastifyInstance => {
  const timeouts = options.timeouts ?? defaultTimeouts;
  // Fastify would log the address that the program logs with more fields.
  const level = options.log.isLevelEnabled('info') ? 'warn' : options.log.level;
  const loggerInstance: FastifyBaseLogger = options.log.child({}, { level });
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    // Log lines of a request contain its id; a child logger per request would be wasted.
    childLoggerFactory: (logger) => logger,
    bodyLimit: maxBodyBytes,
    connectionTimeout: maxSilenceMilliseconds,
    keepAliveTimeout: 60_000,
    http: { headersTimeout: timeouts.head, connectionsCheckingInterval: timeouts.check },
    clientErrorHandler: answerMalformedRequest,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    trustProxy: options.trustedProxies.length === 0 ? false : options.trustedProxies,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    genReqId: getRequestId,
    rewriteUrl: (request) => {
      // Methods such as QUERY get 405 with `Allow` on existing paths, and 404 elsewhere.
      if (!allMethods.has(request.method ?? '')) request.method = 'TRACE';
      return squeezePath(request.url ?? '/', options);
    },
    frameworkErrors: (error, request, reply) => void handleError(options)(error, request, reply),
    routerOptions: { querystringParser: (text) => parseForm(text) as never },
  });
  app.server.maxConnections = maxConnections;
  limitBodies(app, timeouts.request);
  app.decorateRequest('userId', null);
  app.decorateRequest('route', undefined);
  app.decorateRequest('meter', null as unknown as Meter);
  app.addHook('onRequest', (request, reply, done) => {
    request.meter = makeMeter(request, options.tracer);
    void reply.headers(securityHeaders).header('x-request-id', request.id);
    const match = options.routes.find(request.method, request.url);
    request.route = match?.route;
    request.params = match?.params;
    if (isAmbiguous(request.raw)) {
      void reply.header('connection', 'close');
      done(unreadable());
      return;
    }
    runMetered(request.meter, done);
  });
  addCors(app, openToPages);
  app.addHook('onSend', (_request, reply, payload, done) => {
    void reply.header('x-runtime', (reply.elapsedTime / 1000).toFixed(6));
    done(null, payload);
  });
  logRequests(app, options);
  readBodies(app);
  serveRoutes(app);
  app.setErrorHandler(handleError(options));
  return app;
};
