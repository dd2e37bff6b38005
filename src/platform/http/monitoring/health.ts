import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RouteHandler, RouteTable } from '../route_table.ts';
import type { Metrics } from './metrics.ts';

export type HealthParts = {
  metrics: Metrics;
  /** Resolves if the store responds. */
  checkStore: () => Promise<void>;
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

const sendJson = (reply: FastifyReply, status: number, body: object): FastifyReply =>
  reply
    .code(status)
    .header('content-type', 'application/json')
    .send(Buffer.from(JSON.stringify(body)));

export const mountHealth = (routes: RouteTable, parts: HealthParts): void => {
  const { metrics, checkStore, isServing } = parts;
  const guarded = guardedBy(parts.mayMonitor);
  const get = (url: string, handler: RouteHandler): void => routes.add({ method: 'GET', url, handler });
  get(
    '/-/health',
    guarded(async (_request, reply) => await reply.type('text/plain').send('OK')),
  );
  get(
    '/-/liveness',
    guarded(async (_request, reply) => await sendJson(reply, 200, { status: 'ok' })),
  );
  get(
    '/-/readiness',
    guarded(async (_request, reply) => {
      const store = await storeState(checkStore);
      const ready = store === 'ok' && isServing();
      const body = { status: ready ? 'ok' : 'failed', store_check: [{ status: store }] };
      return await sendJson(reply, ready ? 200 : 503, body);
    }),
  );
  const figures = guarded(async (_request, reply) =>
    reply.header('content-type', metrics.type).send(await metrics.text()),
  );
  get('/-/metrics', figures);
  get('/metrics', figures);
};
