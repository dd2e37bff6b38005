import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RouteHandler, RouteTable } from '../route_table.ts';
import type { Metrics } from './metrics.ts';

type Check = { status: string; name?: string };

/** Health of the parts of the service. If there are several parts of a kind, each is named. */
export type PartsReport = { status: string; checks: Record<string, Check | Check[]> };

export type HealthParts = {
  metrics: Metrics;
  /** Resolves if the store responds. */
  checkStore: () => Promise<void>;
  /** Judges every part of the service. */
  judgeParts: () => Promise<PartsReport>;
  /** False while the service drains and stops. */
  isServing: () => boolean;
  mayMonitor: (request: FastifyRequest) => boolean;
};

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Answers 404 to clients without access, so that health and metrics reveal nothing. */
const guardedBy =
  (mayMonitor: HealthParts['mayMonitor']) =>
  (answer: Handler): Handler =>
  async (request, reply) => {
    if (mayMonitor(request)) return await answer(request, reply);
    return await reply.code(404).header('content-type', 'application/json').send('{"error":"404 Not Found"}');
  };

const storeState = async (checkStore: () => Promise<void>): Promise<'ok' | 'failed'> => {
  try {
    await checkStore();
    return 'ok';
  } catch {
    return 'failed';
  }
};

/** Names the parts that do not answer. */
const listIll = ({ checks }: PartsReport): string[] =>
  Object.entries(checks).flatMap(([kind, check]) =>
    [check]
      .flat()
      .filter(({ status }) => status === 'failed')
      .map(({ name }) => `${name === undefined ? kind : `${kind} ${name}`} failed`),
  );

const listChecks = ({ checks }: PartsReport): Record<string, Check[]> =>
  Object.fromEntries(Object.entries(checks).map(([kind, check]) => [`${kind}_check`, [check].flat()]));

const sendJson = (reply: FastifyReply, status: number, body: object): FastifyReply =>
  reply
    .code(status)
    .header('content-type', 'application/json')
    .send(Buffer.from(JSON.stringify(body)));

export const mountHealth = (routes: RouteTable, parts: HealthParts): void => {
  const { metrics, checkStore, isServing, judgeParts } = parts;
  const guarded = guardedBy(parts.mayMonitor);
  const get = (url: string, handler: RouteHandler): void => routes.add({ method: 'GET', url, handler });
  get(
    '/-/health',
    guarded(async (request, reply) => {
      const report = await judgeParts();
      const status = report.status === 'failed' ? 503 : 200;
      const isJson = request.headers.accept?.includes('application/json') === true;
      if (isJson) return await sendJson(reply, status, report);
      const text = status === 200 ? 'OK' : listIll(report).join('\n');
      return await reply.code(status).type('text/plain').send(text);
    }),
  );
  get(
    '/-/liveness',
    guarded(async (_request, reply) => await sendJson(reply, 200, { status: 'ok' })),
  );
  get(
    '/-/readiness',
    guarded(async (request, reply) => {
      const store = await storeState(checkStore);
      const ready = store === 'ok' && isServing();
      const more = /[?&]all=1(?:&|$)/.test(request.url) ? listChecks(await judgeParts()) : {};
      const body = { status: ready ? 'ok' : 'failed', store_check: [{ status: store }], ...more };
      return await sendJson(reply, ready ? 200 : 503, body);
    }),
  );
  const figures = guarded(async (_request, reply) =>
    reply.header('content-type', metrics.type).send(await metrics.text()),
  );
  get('/-/metrics', figures);
  get('/metrics', figures);
};
