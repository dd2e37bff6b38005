/** Malformed and slow clients, byte by byte: each gets a response or is disconnected, without harm to others. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import type { AnyEndpoint } from './endpoint.ts';
import { makeMetrics } from './monitoring/metrics.ts';
import { type BaseCall, finalWords, mountEndpoints } from './mount.ts';
import { int, integer, object, optional, string, text } from './schema.ts';
import { makeRouteTable } from './route_table.ts';
import { makeServer } from './server.ts';

const shared = { area: 'test', audience: 'anyone' } as const;
type TestCall = BaseCall & { incoming: IncomingMessage };
const endpoints: AnyEndpoint<TestCall>[] = [
  {
    ...shared,
    method: 'GET',
    path: '/things/:name',
    summary: 'One thing',
    params: object({ name: text() }),
    reply: object({ name: string, base: string }),
    handle: async (call, { name }) => ({ name, base: call.baseUrl }),
  },
  {
    ...shared,
    method: 'GET',
    path: '/things',
    summary: 'Things',
    params: object({ wait: optional(integer()) }),
    reply: object({ waited: int }),
    handle: async (_call, { wait = 0 }) => {
      await pause(wait);
      return { waited: wait };
    },
  },
  {
    ...shared,
    method: 'POST',
    path: '/things',
    summary: 'Make a thing',
    params: object({ name: optional(text()) }),
    reply: object({ name: string }),
    handle: async (_call, { name = '' }) => ({ name }),
  },
  {
    ...shared,
    method: 'POST',
    path: '/long',
    summary: 'Send a long body',
    body: 'stream',
    params: object({}),
    reply: object({ bytes: int }),
    handle: async ({ incoming }) => {
      let bytes = 0;
      for await (const chunk of incoming) bytes += (chunk as Buffer).length;
      return { bytes };
    },
  },
];

let app: FastifyInstance;
let port: number;
const logged: string[] = [];

before(async () => {
  const routes = makeRouteTable();
  app = makeServer({
    log: pino({ level: 'error' }, { write: (line: string) => void logged.push(line) }),
    metrics: makeMetrics('test'),
    routes,
    trustedProxies: [],
    finalWords: finalWords(endpoints),
    storeFailure: () => null,
    failurePage: async () => null,
    timeouts: { head: 150, request: 300, check: 20 },
  });
  mountEndpoints(routes, endpoints, async (request) => ({
    signedIn: false,
    admin: false,
    baseUrl: `http://${request.host}`,
    keepAnswer: async (_name, _params, load) => await load(),
    runExpensive: async (work) => await work(),
    pollInterval: String,
    incoming: request.raw,
  }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = app.server.address() as AddressInfo);
});
after(async () => {
  await app.close();
  assert.deepEqual(logged, []);
});

type Wire = {
  socket: Socket;
  /** Text received so far. */
  text: () => string;
  /** Resolves when the server has closed the connection. */
  closed: Promise<unknown>;
  /** Resolves when this many responses have arrived. */
  answers: (count: number) => Promise<Answer[]>;
};
type Answer = { status: number; headers: string; body: string };

const answersIn = (all: string): Answer[] => {
  const found: Answer[] = [];
  for (let rest = all; ;) {
    const match = /^HTTP\/1\.1 (\d{3})[^\r]*\r\n((?:[^\r]+\r\n)*)\r\n/.exec(rest);
    if (match === null) return found;
    const [head = '', status, headers = ''] = match;
    const length = Number(/^content-length: (\d+)$/im.exec(headers)?.[1] ?? 0);
    if (rest.length < head.length + length) return found;
    found.push({ status: Number(status), headers, body: rest.slice(head.length, head.length + length) });
    rest = rest.slice(head.length + length);
  }
};

const open = async (): Promise<Wire> => {
  const socket = connect(port, '127.0.0.1');
  let all = '';
  socket.setEncoding('latin1').on('data', (part: string) => void (all += part));
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  await once(socket, 'connect');
  const answers = async (count: number): Promise<Answer[]> => {
    while (answersIn(all).length < count) {
      if (socket.closed) throw new Error(`closed after ${JSON.stringify(all)}`);
      await pause(2);
    }
    return answersIn(all);
  };
  return { socket, text: () => all, closed, answers };
};

/** Sends bytes on a new connection and returns the first response. */
const send = async (bytes: string): Promise<Answer & { wire: Wire }> => {
  const wire = await open();
  wire.socket.write(bytes, 'latin1');
  const [answer] = await wire.answers(1);
  return { ...answer!, wire };
};

const head = (line: string, ...headers: string[]): string =>
  `${[`${line} HTTP/1.1`, 'Host: here', ...headers].join('\r\n')}\r\n\r\n`;

const get = (path: string, ...headers: string[]): string => head(`GET ${path}`, ...headers);
const isAlive = async ({ socket, answers }: Wire, earlier: number): Promise<boolean> => {
  socket.write(get('/api/v4/things'));
  const all = await answers(earlier + 1).catch(() => []);
  return all.at(-1)?.status === 200;
};

const badRequest = '{"message":"400 Bad request"}';
const refusal = (answer: Answer): [number, string] => [answer.status, answer.body];

describe('an ambiguous request', () => {
  const post = 'POST /api/v4/things';
  const bytes: { [what: string]: string } = {
    'two Host headers': get('/api/v4/things', 'Host: there'),
    'a length and a coding': head(post, 'Content-Length: 4', 'Transfer-Encoding: chunked') + '0\r\n\r\n',
    'two lengths': head(post, 'Content-Length: 4', 'Content-Length: 5') + 'abcde',
    'a negative length': head(post, 'Content-Length: -4'),
    'a length with a sign': head(post, 'Content-Length: +4') + 'abcd',
    'a coding that nobody decodes': head(post, 'Transfer-Encoding: gzip, chunked') + '0\r\n\r\n',
    'the coding "identity"': head(post, 'Transfer-Encoding: identity') + 'abc',
    'a coding after "chunked"': head(post, 'Transfer-Encoding: chunked, gzip') + '0\r\n\r\n',
    'a chunk of no length': head(post, 'Transfer-Encoding: chunked') + 'zz\r\n{}\r\n0\r\n\r\n',
    'line feeds alone': 'GET /api/v4/things HTTP/1.1\nHost: here\n\n',
    'a folded header': get('/api/v4/things', 'X-A: b\r\n c'),
    'a space before the colon': get('/api/v4/things', 'X-A : b'),
    'a NUL in a header': get('/api/v4/things', 'X-A: a\0b'),
    'a method that does not exist': head('FOO /api/v4/things'),
    'a version that does not exist': 'GET /api/v4/things HTTP/1.2\r\nHost: here\r\n\r\n',
    'bytes of TLS': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  };
  for (const [what, sent] of Object.entries(bytes)) {
    it(`is refused and the connection closed: ${what}`, async () => {
      const answer = await send(sent);
      assert.deepEqual(refusal(answer), [400, badRequest]);
      await answer.wire.closed;
    });
  }

  it('a request without a Host header is refused', async () => {
    const wire = await open();
    wire.socket.write('GET /api/v4/things HTTP/1.1\r\n\r\n');
    await wire.closed;
    assert.match(wire.text(), /^HTTP\/1\.1 400 /);
  });
});

describe('a request target', () => {
  it('can be an absolute URL, whose host is ignored', async () => {
    const { status, body } = await send(get('http://elsewhere.example/api/v4/things/a?b=c'));
    assert.deepEqual([status, JSON.parse(body)], [200, { name: 'a', base: 'http://here' }]);
    assert.equal((await send(get('https://elsewhere.example'))).status, 404);
  });

  for (const path of ['/api/v4/things/%zz', '/api/v4/things/%', '/api/v4/things/%c3%28', '/%ff']) {
    it(`with bad percent encoding is refused: ${path}`, async () => {
      const answer = await send(get(path));
      assert.deepEqual(refusal(answer), [400, '{"message":"400 (Bad request)"}']);
      assert.ok(await isAlive(answer.wire, 1));
    });
  }

  it('a request target with non-ASCII bytes is refused', async () => {
    assert.equal((await send(get('/api/v4/things/\xfc'))).status, 400);
  });

  it('is not normalized: dots and encoded slashes stay', async () => {
    for (const path of ['/api/v4/../v4/things', '/api/v4%2fthings', '/api/v4/./things', '//api/v4/..']) {
      assert.equal((await send(get(path))).status, 404, path);
    }
  });

  it('a request target that is too long is refused', async () => {
    assert.equal((await send(get(`/api/v4/things/${'a'.repeat(9_000)}`))).status, 414);
    assert.equal((await send(get(`/api/v4/things?a=${'a'.repeat(9_000)}`))).status, 414);
  });

  it('a request target of the whole server (*) is refused', async () => {
    assert.equal((await send(head('OPTIONS *'))).status, 404);
  });
});

describe('a method', () => {
  for (const method of ['TRACE', 'PATCH', 'DELETE']) {
    it(`that is not available is refused with the available ones: ${method}`, async () => {
      const answer = await send(head(`${method} /api/v4/things`));
      assert.deepEqual(refusal(answer), [405, '{"message":"405 Method Not Allowed"}']);
      assert.match(answer.headers, /^allow: OPTIONS, GET, POST, HEAD\r?$/im);
    });
  }

  for (const method of ['PROPFIND', 'QUERY', 'LOCK', 'M-SEARCH']) {
    it(`of another protocol is refused with the available ones: ${method}`, async () => {
      const answer = await send(head(`${method} /api/v4/things`));
      assert.deepEqual(refusal(answer), [405, '{"message":"405 Method Not Allowed"}']);
      assert.match(answer.headers, /^allow: OPTIONS, GET, POST, HEAD\r?$/im);
      assert.equal((await send(head(`${method} /api/v4/nothing`))).status, 404);
    });
  }

  it('CONNECT opens no tunnel', async () => {
    const wire = await open();
    wire.socket.write(head('CONNECT elsewhere.example:80'));
    await wire.closed;
    assert.equal(wire.text(), '');
  });

  it('HEAD is answered without a body', async () => {
    const wire = await open();
    wire.socket.write(head('HEAD /api/v4/things', 'Connection: close'));
    await wire.closed;
    assert.match(wire.text(), /^HTTP\/1\.1 200 [\s\S]*content-length: 12\r\n[\s\S]*\r\n\r\n$/);
  });
});

describe('a head', () => {
  it('that is too long is refused and the connection closed', async () => {
    const answer = await send(get('/api/v4/things', `X-A: ${'a'.repeat(20_000)}`));
    assert.deepEqual(refusal(answer), [431, '{"message":"431 Request Header Fields Too Large"}']);
    await answer.wire.closed;
  });

  it('a request with many headers is served', async () => {
    const many = Array.from({ length: 200 }, (_one, n) => `X-${n}: a`);
    assert.equal((await send(get('/api/v4/things', ...many))).status, 200);
  });
});

describe('a body', () => {
  const json = 'Content-Type: application/json';
  const post = (...headers: string[]): string => head('POST /api/v4/things', json, ...headers);

  it('declared too large is refused unread, and the connection closed', async () => {
    const answer = await send(`${post('Content-Length: 999999999')}{`);
    assert.deepEqual(refusal(answer), [413, '{"message":"413 Request Entity Too Large"}']);
    await answer.wire.closed;
  });

  it('in chunks that exceed the limit is refused, and the connection closed', async () => {
    const chunk = `10000\r\n${'a'.repeat(65_536)}\r\n`;
    const answer = await send(post('Transfer-Encoding: chunked') + chunk.repeat(40));
    assert.equal(answer.status, 413);
    await answer.wire.closed;
  });

  it('is requested after "Expect: 100-continue"', async () => {
    const wire = await open();
    wire.socket.write(post('Content-Length: 12', 'Expect: 100-continue'));
    const [first] = await wire.answers(1);
    assert.equal(first?.status, 100);
    wire.socket.write('{"name":"a"}');
    assert.equal((await wire.answers(2))[1]?.status, 201);
  });

  it('a body in chunks is read as a whole', async () => {
    const chunks = '5\r\n{"nam\r\n7;note=x\r\ne":"a"}\r\n0\r\nX-Trailer: b\r\n\r\n';
    const answer = await send(post('Transfer-Encoding: chunked') + chunks);
    assert.deepEqual([answer.status, answer.body], [201, '{"name":"a"}']);
    assert.ok(await isAlive(answer.wire, 1));
  });

  it('of a GET is not parsed as the next request', async () => {
    const smuggled = get('/api/v4/things/smuggled');
    const answer = await send(get('/api/v4/things', `Content-Length: ${smuggled.length}`) + smuggled);
    assert.equal(answer.status, 200);
    assert.ok(await isAlive(answer.wire, 1));
    assert.equal((await answer.wire.answers(2)).length, 2);
  });
});

describe('a connection', () => {
  it('answers pipelined requests in order', async () => {
    const wire = await open();
    wire.socket.write(
      get('/api/v4/things?wait=40') + get('/api/v4/things/second') + get('/api/v4/things?wait=1'),
    );
    const answers = await wire.answers(3);
    assert.deepEqual(
      answers.map(({ body }) => body),
      ['{"waited":40}', '{"name":"second","base":"http://here"}', '{"waited":1}'],
    );
  });

  it('a connection stays open after a failed request', async () => {
    const { wire, status } = await send(get('/nowhere'));
    assert.equal(status, 404);
    assert.ok(await isAlive(wire, 1));
  });

  it('of HTTP/1.0 is closed after the response, or kept alive on request', async () => {
    const old = await send('GET /api/v4/things HTTP/1.0\r\n\r\n');
    assert.equal(old.status, 200);
    await old.wire.closed;
    const kept = await send('GET /api/v4/things HTTP/1.0\r\nHost: here\r\nConnection: keep-alive\r\n\r\n');
    assert.ok(await isAlive(kept.wire, 1));
  });

  it('that requests an upgrade stays with HTTP', async () => {
    const answer = await send(get('/api/v4/things', 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c'));
    assert.equal(answer.status, 200);
  });

  it('that breaks within a body affects no other', async () => {
    const wire = await open();
    wire.socket.write(`${head('POST /api/v4/things', 'Content-Length: 100')}half`);
    await pause(10);
    wire.socket.resetAndDestroy();
    assert.equal((await send(get('/api/v4/things'))).status, 200);
  });

  it('that breaks before its response affects no other', async () => {
    const wire = await open();
    wire.socket.write(get('/api/v4/things?wait=30'));
    await pause(10);
    wire.socket.resetAndDestroy();
    await pause(40);
    assert.equal((await send(get('/api/v4/things'))).status, 200);
  });
});

describe('a slow client', () => {
  const timeout = [408, '{"message":"408 Request Timeout"}'];

  it('that stops within the head gets 408 and is disconnected', async () => {
    const answer = await send('GET /api/v4/things HTTP/1.1\r\nHost: here\r\nX-A');
    assert.deepEqual(refusal(answer), timeout);
    await answer.wire.closed;
  });

  it('that trickles the head is disconnected', async () => {
    const wire = await open();
    wire.socket.write('GET /api/v4/things HTTP/1.1\r\n');
    const drip = setInterval(() => void (wire.socket.writable && wire.socket.write('X-A: b\r\n')), 10);
    await wire.closed;
    clearInterval(drip);
  });

  it('that stops within the body gets 408 and is disconnected', async () => {
    const answer = await send(`${head('POST /api/v4/things', 'Content-Length: 100')}half`);
    assert.deepEqual(refusal(answer), timeout);
    await answer.wire.closed;
  });

  it('may take long over a streamed body that makes progress', async () => {
    const wire = await open();
    const chunk = Buffer.alloc(10_000);
    const length = chunk.length * 40;
    wire.socket.write(head('POST /api/v4/long', `Content-Length: ${length}`));
    for (let sent = 0; sent < length; sent += chunk.length) {
      wire.socket.write(chunk);
      await pause(20);
    }
    const [answer] = await wire.answers(1);
    assert.equal(answer?.body, `{"bytes":${length}}`);
  });

  it('that stops within a streamed body gets 408 and is disconnected', async () => {
    const answer = await send(`${head('POST /api/v4/long', 'Content-Length: 100000')}${'x'.repeat(50_000)}`);
    assert.deepEqual(refusal(answer), timeout);
    await answer.wire.closed;
  });

  it('a client that sends nothing is disconnected', async () => {
    await (
      await open()
    ).closed;
  });

  it('a slow client does not delay others', async () => {
    const slow = await Promise.all(Array.from({ length: 100 }, open));
    for (const { socket } of slow) socket.write('GET /api/v4/things HTTP/1.1\r\nX');
    assert.equal((await send(get('/api/v4/things'))).status, 200);
    await Promise.all(slow.map(({ closed }) => closed));
  });
});
