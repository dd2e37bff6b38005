/** The log lines of requests, and the ids of requests. */
import assert from 'node:assert/strict';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { makeMetrics } from './metrics.ts';
import { makeRouteTable } from '../route_table.ts';
import { makeServer } from '../server.ts';

let app: FastifyInstance;
let port: number;
const lines: string[] = [];

before(async () => {
  const routes = makeRouteTable();
  routes.add({ method: 'GET', url: '/things/:name', handler: (_request, reply) => reply.send('a thing') });
  app = makeServer({
    log: pino({ level: 'info', base: { instance: 7 } }, { write: (line: string) => void lines.push(line) }),
    metrics: makeMetrics('test'),
    routes,
    trustedProxies: ['127.0.0.1'],
    finalWords: new Set(),
    storeFailure: () => null,
    failurePage: async () => null,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = app.server.address() as AddressInfo);
});
after(async () => await app.close());

/** Sends a request and returns its response and its line. */
const send = async (path: string, headers: string[] = []): Promise<{ answer: string; line: object }> => {
  lines.length = 0;
  const socket = connect(port, '127.0.0.1');
  const head = [`GET ${path} HTTP/1.1`, 'host: a', 'connection: close', ...headers].join('\r\n');
  socket.end(`${head}\r\n\r\n`, 'latin1');
  const answer = await text(socket);
  assert.equal(lines.length, 1);
  return { answer, line: JSON.parse(lines[0] ?? '') as object };
};

test('writes one line of JSON for each request, without its query', async () => {
  const { line } = await send('/things/a"b\\c?private_token=secret', ['x-request-id: from-client']);
  const { time, ms, ...rest } = line as { time: number; ms: number };
  assert.ok(Number.isInteger(time) && ms >= 0);
  assert.deepEqual(rest, {
    level: 30,
    instance: 7,
    request_id: 'from-client',
    method: 'GET',
    route: '/things/:name',
    path: '/things/a"b\\c',
    status: 200,
    store_ms: 0,
    statements: 0,
    user_id: null,
    ip: '127.0.0.1',
    msg: 'request',
  });
});

test('escapes the address that a proxy reports', async () => {
  const { line } = await send('/nowhere', ['x-forwarded-for: "1", \\2']);
  assert.deepEqual(line, { ...line, route: 'unknown', status: 404, ip: '\\2' });
});

test('gives each request a UUID of its own', async () => {
  const ids = new Set<string>();
  for (let at = 0; at < 130; at += 1) {
    const { answer, line } = await send('/things/a');
    const id = /^x-request-id: (.+)\r$/m.exec(answer)?.[1] ?? '';
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.deepEqual(line, { ...line, request_id: id });
    ids.add(id);
  }
  assert.equal(ids.size, 130);
});
