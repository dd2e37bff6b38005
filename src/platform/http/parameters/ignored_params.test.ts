/** The ignored-parameters header names undeclared parameters; unsupported filters are refused. */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import type { AnyEndpoint } from '../endpoint.ts';
import { makeMetrics } from '../monitoring/metrics.ts';
import { type BaseCall, finalWords, mountEndpoints } from '../mount.ts';
import { pageParams } from '../page.ts';
import { hash, object, optional, raw, string, text, texts, unsupportedFilter } from '../schema.ts';
import { makeRouteTable } from '../route_table.ts';
import { makeServer } from '../server.ts';

const shared = { area: 'test', audience: 'anyone' } as const;
const endpoints: AnyEndpoint<BaseCall>[] = [
  {
    ...shared,
    method: 'GET',
    path: '/things',
    summary: 'Things',
    list: true,
    params: object({
      ...pageParams,
      search: optional(text()),
      not: optional(hash({ labels: string, place: hash({ room: string }) })),
      weight: unsupportedFilter(['any']),
    }),
    reply: object({}),
    handle: async () => ({ items: [], total: 0 }),
  },
  {
    ...shared,
    method: 'POST',
    path: '/things/:name',
    summary: 'Create a thing',
    params: object({
      name: text(),
      labels: optional(texts()),
      variables: optional(hash({})),
      parts: optional(raw('any')),
    }),
    reply: object({ name: string }),
    handle: async (_call, { name }) => ({ name }),
  },
];

let app: FastifyInstance;
let url: string;
before(async () => {
  const routes = makeRouteTable();
  app = makeServer({
    log: pino({ level: 'silent' }),
    metrics: makeMetrics('test'),
    routes,
    trustedProxies: [],
    finalWords: finalWords(endpoints),
    storeFailure: () => null,
    failurePage: async () => null,
  });
  const keepAnswer: BaseCall['keepAnswer'] = async (_name, _params, load) => await load();
  const runExpensive: BaseCall['runExpensive'] = async (work) => await work();
  const call = { signedIn: false, admin: false, baseUrl: '', keepAnswer, runExpensive, pollInterval: String };
  mountEndpoints(routes, endpoints, async () => call);
  await app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/api/v4`;
});
after(async () => await app.close());

const ignored = async (path: string, init: RequestInit = {}): Promise<string | null> => {
  const reply = await fetch(url + path, init);
  assert.equal(reply.ok, true);
  return reply.headers.get('gantry-ignored-parameters');
};

const post = async (body: string, type = 'application/json', path = '/things/one') =>
  await ignored(path, { method: 'POST', body, headers: { 'content-type': type } });

describe('Gantry-Ignored-Parameters', () => {
  it('is absent if every parameter is declared', async () => {
    assert.equal(await ignored('/things?search=a&page=1&per_page=2&not[labels]=a&not[place][room]=b'), null);
    assert.equal(await post('{"labels":["a"],"variables":{"x":{"y":1}},"parts":[{"any":1}]}'), null);
  });

  it('names undeclared parameters of the query and of a body of any type', async () => {
    assert.equal(await ignored('/things?serach=a&order=b&search=c'), 'serach, order');
    assert.equal(
      await post('{"colour":null,"size":{"x":1}}', 'application/json', '/things/one?a=1'),
      'a, colour, size',
    );
    assert.equal(
      await post('colour=red&sizes[]=1&sizes[]=2', 'application/x-www-form-urlencoded'),
      'colour, sizes',
    );
    const part = '--b\r\ncontent-disposition: form-data; name="colour"\r\n\r\nred\r\n--b--\r\n';
    assert.equal(await post(part, 'multipart/form-data; boundary=b'), 'colour');
  });

  it('names an undeclared part of a hash by its path', async () => {
    assert.equal(
      await ignored('/things?not[label]=a&not[labels]=b&not[place][floor]=1&not[place][room]=2'),
      'not[label], not[place][floor]',
    );
  });

  it('the header of ignored parameters never names credentials', async () => {
    const names = [
      'private_token',
      'access_token',
      'bearer_token',
      'job_token',
      'sudo',
      'authenticity_token',
    ];
    assert.equal(await ignored(`/things?${names.map((name) => `${name}=x`).join('&')}`), null);
  });

  it('names files in place of values, declared or not', async () => {
    const file = (name: string) =>
      `--b\r\ncontent-disposition: form-data; name="${name}"; filename="a.png"\r\n\r\nbytes\r\n`;
    const value = '--b\r\ncontent-disposition: form-data; name="size"\r\n\r\nlarge\r\n';
    const type = 'multipart/form-data; boundary=b';
    const body = `${value}${file('avatar')}${file('labels')}${file('size')}${file('avatar')}--b--\r\n`;
    assert.equal(await post(body, type), 'size, avatar, labels');
    assert.equal(await post(`${file('a[b]')}--b--\r\n`, type), 'a[b]');
    assert.equal(await post(`${file('x\u00e9,y')}--b--\r\n`, type), 'x%C3%A9%2Cy');
  });

  it('contains neither values nor control characters or commas of names', async () => {
    const name = 'a\r\nset-cookie: x=1,b\u00e9\ud800\u0000 "';
    assert.equal(
      await post(JSON.stringify({ [name]: 'secret' })),
      'a%0D%0Aset-cookie%3A%20x%3D1%2Cb%C3%A9%EF%BF%BD%00%20%22',
    );
    assert.equal(
      await post('{"__proto__":1,"constructor":2,"toString":3}'),
      '__proto__, constructor, toString',
    );
  });

  it('the header of ignored parameters has a limited length', async () => {
    const many = Object.fromEntries(Array.from({ length: 900 }, (_one, at) => [`name_${at}`, 1]));
    const header = (await post(JSON.stringify(many))) ?? '';
    assert.match(header, /^name_0, name_1, .*, \.\.\.$/);
    assert.ok(header.length < 2100);
    assert.equal(await post(JSON.stringify({ ['x'.repeat(100_000)]: 1 })), 'x'.repeat(100));
    const deep = JSON.stringify({ ['\u00e9'.repeat(5000)]: 1, b: 1 });
    assert.equal(await post(deep), `${'%C3%A9'.repeat(100)}, b`);
  });

  it('failures have the header of ignored parameters, too', async () => {
    const reply = await fetch(`${url}/things?page=x&colour=red`);
    assert.equal(reply.status, 400);
    assert.equal(reply.headers.get('gantry-ignored-parameters'), 'colour');
  });
});

describe('An unsupported filter', () => {
  it('is refused if it would narrow the list', async () => {
    for (const query of ['weight=1', 'weight[]=1&weight[]=any', 'weight=none', 'weight[x]=1']) {
      const reply = await fetch(`${url}/things?${query}`);
      assert.equal(reply.status, 400, query);
      const { message } = (await reply.json()) as { message: object };
      assert.deepEqual(Object.keys(message), ['weight']);
    }
    const reply = await fetch(`${url}/things?weight=1`);
    assert.deepEqual(await reply.json(), { message: { weight: ['is a filter that is not supported'] } });
  });

  it('is accepted if it would not', async () => {
    for (const query of ['weight=', 'weight=Any', 'weight[]=', 'weight[]=any']) {
      assert.equal(await ignored(`/things?${query}`), null, query);
    }
  });
});
