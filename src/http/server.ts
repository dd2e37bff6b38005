/** Fastify without nouns: limits, headers, errors, logs. Endpoints are mounted on it by `mount.ts`. */
import { randomUUID } from 'node:crypto';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  fastify,
} from 'fastify';
import type { Logger } from 'pino';
import { type Meter, runMetered } from '../db/meter.ts';
import type { Failure } from '../errors.ts';
import { largestBody } from './body.ts';
import { answerBroken } from './broken.ts';
import { parseForm } from './form.ts';
import { asFailure, unknownRoute, unreadable } from './failure.ts';
import type { Metrics } from './metrics.ts';
import { allMethods, apiPrefix } from './mount.ts';
import { limitBodies } from './patience.ts';
import { isAmbiguous } from './origin.ts';
import { addCors } from './cors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    meter: Meter;
    /** For the log: who called, once that is known. */
    userId: number | null;
  }
}

export type FailurePageOf = (
  request: FastifyRequest,
  failure: Failure | null,
) => Promise<{ body: string; headers: Record<string, string> } | null>;

export type ServerOptions = {
  log: Logger;
  metrics: Metrics;
  trustedProxies: string[];
  /** Words after which a path may carry `.json`. */
  finalWords: Set<string>;
  /** Folds an error of the store (a full disk) into a failure. */
  storeFailure: (error: unknown) => Failure | null;
  /** A failure (null: one that nobody foresaw) as a page; null: the request is not a person's. */
  failurePage: FailurePageOf;
  /** Another path under which a path is served; the same where there is none. */
  rewritePath?: (path: string) => string;
  /** Milliseconds that a client has for the head of a request, and for its body; how often the first is looked at. */
  patience?: { head: number; request: number; check: number };
};

const usualPatience = { head: 10_000, request: 30_000, check: 2_000 };
/** Milliseconds after which a connection is cut on which nothing moves, such as of one who does not read. */
const longestSilence = 120_000;
const mostConnections = 10_000;

/** What pages of other sites may ask, for none of it takes a cookie from there. */
const openToPages = [`${apiPrefix}/`, '/oauth/token', '/oauth/revoke', '/.well-known/oauth-'];

const saneRequestId = /^[A-Za-z0-9_.=+/-]{8,128}$/;

const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'max-age=0, private, must-revalidate',
  vary: 'Origin, Authorization, Private-Token, Cookie',
};

/** What follows is the name of a file or a ref, which may well end in `.json`. */
const namesFile =
  /\/repository\/(?:files|branches|tags|commits|archive)\/|\/protected_(?:branches|tags)\/|\/jobs\/(?:\d+\/artifacts|artifacts)\//;

/**
 * `//` is `/`, a trailing `/` is none, and `.json` after a literal word is dropped. Of a whole URL, as proxies are
 * sent it, the scheme and the host are ignored.
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
  // An answer before the body was read leaves bytes on the wire that are no request.
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
    request.log.error({ err: error, request_id: request.id, route: routeOf(request) }, 'unforeseen error');
    const page = await options.failurePage(request, null);
    if (page !== null) return reply.code(500).headers(page.headers).send(page.body);
    const body = { message: '500 Internal Server Error' };
    return reply
      .code(500)
      .header('content-type', 'application/json')
      .send(Buffer.from(JSON.stringify(body)));
  };
};

const routeOf = (request: FastifyRequest): string => request.routeOptions.url ?? 'unknown';

const logAndMeasure = (app: FastifyInstance, { metrics, log }: ServerOptions): void => {
  // Nothing that a client sent stands in these lines, so nothing has to be looked for and struck out.
  const lines = log.child({}, { redact: [] });
  app.addHook('onResponse', (request, reply, done) => {
    const total = reply.elapsedTime;
    const { meter } = request;
    const route = routeOf(request);
    metrics.observe({ method: request.method, route, status: reply.statusCode }, total, meter.milliseconds);
    lines.info(
      {
        request_id: request.id,
        method: request.method,
        route,
        status: reply.statusCode,
        ms: round(total),
        store_ms: round(meter.milliseconds),
        statements: meter.statements,
        user_id: request.userId,
        ip: request.ip,
      },
      'request',
    );
    done();
  });
};

const round = (milliseconds: number): number => Math.round(milliseconds * 100) / 100;

const readBodies = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
};

/** Endpoints are read and written by our own declarations; Fastify's compilers are not even loaded. */
const noSchemas = () => () => {
  throw new Error('schemas are not given to Fastify');
};

export const makeServer = (options: ServerOptions): FastifyInstance => {
  const patience = options.patience ?? usualPatience;
  const loggerInstance: FastifyBaseLogger = options.log;
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    // What is logged of a request names it: a logger of its own for each would be made for nothing.
    childLoggerFactory: (logger) => logger,
    bodyLimit: largestBody,
    connectionTimeout: longestSilence,
    keepAliveTimeout: 60_000,
    http: { headersTimeout: patience.head, connectionsCheckingInterval: patience.check },
    clientErrorHandler: answerBroken,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    trustProxy: options.trustedProxies.length === 0 ? false : options.trustedProxies,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && saneRequestId.test(given) ? given : randomUUID();
    },
    rewriteUrl: (request) => {
      // Such as QUERY: 405 with `Allow` on a path that there is, 404 elsewhere.
      if (!allMethods.includes(request.method ?? '')) request.method = 'TRACE';
      return squeezePath(request.url ?? '/', options);
    },
    frameworkErrors: (error, request, reply) => void handleError(options)(error, request, reply),
    routerOptions: { maxParamLength: 2000, querystringParser: (text) => parseForm(text) as never },
  });
  app.server.maxConnections = mostConnections;
  limitBodies(app, patience.request);
  app.decorateRequest('userId', null);
  app.decorateRequest('meter', null as unknown as Meter);
  app.addHook('onRequest', (request, reply, done) => {
    request.meter = { statements: 0, milliseconds: 0 };
    void reply.headers(securityHeaders).header('x-request-id', request.id);
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
  logAndMeasure(app, options);
  readBodies(app);
  app.setErrorHandler(handleError(options));
  app.setNotFoundHandler((request, reply) => answerFailure(options, request, reply, unknownRoute()));
  return app;
};
