/** Records each request: a log line, metrics and a span. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type DestinationStream, type Logger, symbols } from 'pino';
import type { Meter } from '../../db/statement_meter.ts';
import type { Tracer } from '../../tracing/tracer.ts';
import type { Metrics } from './metrics.ts';

type Watchers = { log: Logger; metrics: Metrics; tracer?: Tracer | null };

export const getRoute = (request: FastifyRequest): string => request.route?.url ?? 'unknown';

/** Makes the meter of a request, which joins the trace of its caller. */
export const makeMeter = ({ id, headers }: FastifyRequest, tracer: Tracer | null = null): Meter => ({
  statements: 0,
  milliseconds: 0,
  about: { request_id: id },
  trace: tracer?.enter(headers['traceparent']) ?? null,
});

const round = (milliseconds: number): number => Math.round(milliseconds * 100) / 100;

const maxShownPath = 500;

/** Returns the path without its query, which may have secrets; the template where the path has one. */
const shownPath = ({ originalUrl, route }: FastifyRequest): string =>
  route !== undefined && /:(?:token|secret)\b/.test(route.url)
    ? route.url
    : originalUrl.slice(0, maxShownPath).replace(/[?#].*/s, '');

const addRequestSpan = (tracer: Tracer, request: FastifyRequest, reply: FastifyReply): void => {
  const { trace = null, statements, project_id } = request.meter;
  if (trace?.isSampled !== true) return;
  const ended = performance.now();
  const route = getRoute(request);
  tracer.add({
    context: trace,
    name: `${request.method} ${route}`,
    kind: 'server',
    started: ended - reply.elapsedTime,
    ended,
    isFailed: reply.statusCode >= 500,
    attributes: {
      'http.request.method': request.method,
      'http.route': route,
      'http.response.status_code': reply.statusCode,
      'url.path': shownPath(request),
      'gantry.statements': statements,
      ...(project_id !== undefined && { 'gantry.project_id': project_id }),
    },
  });
};

type Answered = { route: string; total: number };

/**
 * Formats the line of a request as the logger would, which walks over the fields of a line in three times the time.
 * Nothing is redacted: paths come without query and tokens.
 */
const formatLine = (request: FastifyRequest, status: number, { route, total }: Answered): string => {
  const { meter, ip } = request;
  const { project_id, trace, statements } = meter;
  const optional = [
    project_id === undefined ? '' : `,"project_id":${project_id}`,
    trace ? `,"trace_id":"${trace.trace_id}"` : '',
    (ip as string | undefined) === undefined ? '' : `,"ip":${JSON.stringify(ip)}`,
  ];
  return (
    `"request_id":"${request.id}","method":"${request.method}","route":"${route}",` +
    `"path":${JSON.stringify(shownPath(request))},"status":${status},"ms":${round(total)},` +
    `"store_ms":${round(meter.milliseconds)},"statements":${statements},"user_id":${request.userId}` +
    `${optional.join('')},"msg":"request"`
  );
};

type LineWriter = (request: FastifyRequest, status: number, answered: Answered) => void;

/** Writes lines to the stream of a logger; null if its level leaves them out. */
const makeLineWriter = (log: Logger): LineWriter | null => {
  if (!log.isLevelEnabled('info')) return null;
  const { [symbols.streamSym]: stream, [symbols.chindingsSym]: bindings } = log as unknown as {
    [symbols.streamSym]: DestinationStream;
    [symbols.chindingsSym]: string;
  };
  return (request, status, answered) =>
    stream.write(
      `{"level":${log.levels.values['info']},"time":${Date.now()}${bindings},${formatLine(request, status, answered)}}\n`,
    );
};

/** Logs, counts and traces each request when it is answered. */
export const logRequests = (app: FastifyInstance, { metrics, log, tracer = null }: Watchers): void => {
  const writeLine = makeLineWriter(log);
  app.addHook('onResponse', (request, reply, done) => {
    const total = reply.elapsedTime;
    const { meter } = request;
    const route = getRoute(request);
    metrics.observe({ method: request.method, route, status: reply.statusCode }, total, meter.milliseconds);
    if (tracer !== null) addRequestSpan(tracer, request, reply);
    writeLine?.(request, reply.statusCode, { route, total });
    done();
  });
};
