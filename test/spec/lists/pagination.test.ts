/** API document, "Limits": page, per_page and the pagination headers; behaviour book 1.6. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedGroup, seedIssue, seedUser } from '../../support/seed.ts';
import { type Reply, type Team, type World, answer, iidsOf, startWorld } from '../world.ts';

let world: World;
let team: Team;
let empty: { id: number };
let list: string;
before(async () => {
  world = await startWorld();
  team = await world.team();
  empty = await world.project();
  for (let n = 0; n < 45; n += 1) await seedIssue(world.gantry, { project: team.id });
  list = `/projects/${team.id}/issues`;
});
after(async () => await world.close());

const names = ['x-total', 'x-total-pages', 'x-per-page', 'x-page', 'x-next-page', 'x-prev-page'];
const paging = (reply: Reply): (string | null)[] => names.map((name) => reply.headers.get(name));

const links = (reply: Reply): [string, string][] =>
  (reply.headers.get('link') ?? '').split(', ').map((part) => {
    const [, url = '', rel = ''] = /^<([^>]+)>; rel="([a-z]+)"$/.exec(part) ?? [];
    return [rel, url];
  });

describe('page (default 1) and per_page (default 20, maximum 100)', () => {
  const rows: [string, (string | null)[], number][] = [
    ['', ['45', '3', '20', '1', '2', ''], 20],
    ['page=2', ['45', '3', '20', '2', '3', '1'], 20],
    ['page=3', ['45', '3', '20', '3', '', '2'], 5],
    ['page=4', ['45', '3', '20', '4', '', ''], 0],
    ['page=999999999', ['45', '3', '20', '999999999', '', ''], 0],
    ['page=9007199254740991', ['45', '3', '20', '9007199254740991', '', ''], 0],
    ['page=0', ['45', '3', '20', '1', '2', ''], 20],
    ['page=-5', ['45', '3', '20', '1', '2', ''], 20],
    ['page=', ['45', '3', '20', '1', '2', ''], 20],
    ['per_page=1', ['45', '45', '1', '1', '2', ''], 1],
    ['per_page=45', ['45', '1', '45', '1', '', ''], 45],
    ['per_page=44', ['45', '2', '44', '1', '2', ''], 44],
    ['per_page=100', ['45', '1', '100', '1', '', ''], 45],
    ['per_page=101', ['45', '1', '100', '1', '', ''], 45],
    ['per_page=1000000', ['45', '1', '100', '1', '', ''], 45],
    ['per_page=-1', ['45', '3', '20', '1', '2', ''], 20],
    ['per_page=', ['45', '3', '20', '1', '2', ''], 20],
    ['per_page=10&page=5', ['45', '5', '10', '5', '', '4'], 5],
    ['per_page=1.9', ['45', '45', '1', '1', '2', ''], 1],
    ['state=closed', ['0', '1', '20', '1', '', ''], 0],
  ];
  for (const [query, headers, length] of rows) {
    it(`${query || '(omitted)'}: ${headers.join(' ')}`, async () => {
      const reply = await world.api(`GET ${list}?${query}`);
      assert.deepEqual([reply.status, paging(reply), reply.body.length], [200, headers, length]);
    });
  }

  for (const [query, problems] of [
    ['per_page=0', { per_page: ['has a value not allowed'] }],
    ['per_page=abc', { per_page: ['is invalid'] }],
    ['page=abc', { page: ['is invalid'] }],
    ['page=9007199254740992', { page: ['is invalid'] }],
    ['per_page[]=5', { per_page: ['is invalid'] }],
    ['page=1&page=2', { page: ['is invalid'] }],
    ['page=0x1', { page: ['is invalid'] }],
  ] as const) {
    it(`${query}: 400, before the project is looked up`, async () => {
      for (const at of [list, '/projects/999999/issues']) {
        assert.deepEqual(answer(await world.api(`GET ${at}?${query}`)), [400, { message: problems }]);
      }
    });
  }

  it('the pages put together are the whole list, nothing twice', async () => {
    const seen: number[] = [];
    for (let page = 1; page <= 7; page += 1) {
      seen.push(...iidsOf(await world.api(`GET ${list}?per_page=7&page=${page}`)));
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 45 }, (_, n) => 45 - n),
    );
  });
});

describe('an empty list', () => {
  it('X-Total 0, X-Total-Pages 1, empty neighbours, Link with first and last', async () => {
    const reply = await world.api(`GET /projects/${empty.id}/issues`);
    assert.deepEqual([reply.body, paging(reply)], [[], ['0', '1', '20', '1', '', '']]);
    assert.deepEqual(
      links(reply).map(([rel]) => rel),
      ['first', 'last'],
    );
    for (const [, url] of links(reply)) assert.match(url, /[?&]page=1(&|$)/);
  });
});

describe('every list sends all headers', () => {
  it('with the exact total', async () => {
    const group = await seedGroup(world.gantry);
    const project = await world.project({ namespace: group.id });
    for (let n = 0; n < 3; n += 1) await world.issue(project.id);
    for (const [route, total] of [
      [`/groups/${group.id}/issues?per_page=2`, '3'],
      [`/projects/${project.id}/issues?per_page=2`, '3'],
      [`/projects/${project.id}/issues?per_page=2&labels=x`, '0'],
      [`/projects/${project.id}/issues/1/closed_by?per_page=2`, '0'],
      [`/projects/${project.id}/issues/1/notes?per_page=2`, '0'],
    ] as const) {
      const reply = await world.api(`GET ${route}`);
      assert.equal(reply.headers.get('x-total'), total, route);
      for (const name of [...names, 'link']) assert.ok(reply.headers.has(name), `${route} ${name}`);
    }
    const { token } = await seedUser(world.gantry);
    assert.equal((await world.api('GET /issues', { as: token })).headers.get('x-total'), '0');
  });

  it('a single record sends none', async () => {
    const reply = await world.api(`GET ${list}/1`);
    for (const name of [...names, 'link']) assert.equal(reply.headers.get(name), null);
  });
});

describe('Link', () => {
  it('has prev, next, first and last, in this order, on a page within', async () => {
    const reply = await world.api(`GET ${list}?page=2`);
    assert.deepEqual(
      links(reply).map(([rel]) => rel),
      ['prev', 'next', 'first', 'last'],
    );
    const pages = links(reply).map(([, url]) => new URL(url).searchParams.get('page'));
    assert.deepEqual(pages, ['1', '3', '1', '3']);
  });

  for (const [query, rels] of [
    ['page=1', ['next', 'first', 'last']],
    ['page=3', ['prev', 'first', 'last']],
    ['page=4', ['first', 'last']],
    ['per_page=100', ['first', 'last']],
  ] as const) {
    it(`${query}: ${rels.join(', ')}`, async () =>
      assert.deepEqual(
        links(await world.api(`GET ${list}?${query}`)).map(([rel]) => rel),
        rels,
      ));
  }

  it('carries path parameters, every default and what the client sent, sorted', async () => {
    const reply = await world.api(`GET ${list}`);
    const query = (page: number) =>
      `id=${team.id}&order_by=created_at&page=${page}&per_page=20&sort=desc&state=all`;
    const base = `${world.url}/api/v4${list}`;
    assert.equal(
      reply.headers.get('link'),
      `<${base}?${query(2)}>; rel="next", <${base}?${query(1)}>; rel="first", <${base}?${query(3)}>; rel="last"`,
    );
  });

  it('GET /issues has the default of its scope', async () => {
    const reply = await world.api('GET /issues');
    const query = 'order_by=created_at&page=1&per_page=20&scope=created-by-me&sort=desc&state=all';
    assert.match(
      reply.headers.get('link') ?? '',
      new RegExp(`${query.replaceAll('?', '\\?')}>; rel="first"`),
    );
  });

  it('names only as many pages as a header may have bytes', async () => {
    const long = (bytes: number) => world.api(`GET ${list}?per_page=1&unknown=${'x'.repeat(bytes)}`);
    const some = await long(2_500);
    assert.deepEqual(
      links(some).map(([rel]) => rel),
      ['next', 'first'],
    );
    const none = await long(7_000);
    assert.deepEqual([none.headers.get('link'), none.headers.get('x-next-page')], [null, '2']);
  });

  it('keeps arrays, unknown parameters and odd characters', async () => {
    const sent = 'iids[]=42&iids[]=43&search=a%26b%20c%2Bd&with_counts=1&per_page=1&labels=';
    const reply = await world.api(`GET ${list}?${sent}`);
    const [[, first]] = links(reply) as [[string, string]];
    assert.ok(first.includes('iids%5B%5D=42&iids%5B%5D=43'), first);
    const params = new URL(first).searchParams;
    assert.deepEqual(
      [params.get('search'), params.get('with_counts'), params.get('labels'), params.getAll('iids[]')],
      ['a&b c+d', '1', '', ['42', '43']],
    );
    assert.ok(!/[<>"\s]/.test(first));
  });

  it('its links lead on: following next visits every page', async () => {
    let url: string | undefined = `${world.url}/api/v4${list}?per_page=10&sort=asc&iids[]=`;
    const seen: number[] = [];
    while (url !== undefined) {
      const reply = await world.raw(`GET ${url.slice(world.url.length)}`);
      seen.push(...iidsOf(reply));
      url = links(reply).find(([rel]) => rel === 'next')?.[1];
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 45 }, (_, n) => n + 1),
    );
  });

  it('a path as :id stays encoded in the links', async () => {
    const id = encodeURIComponent(team.full_path);
    const [, first] = links(await world.api(`GET /projects/${id}/issues?per_page=100`))[0]!;
    assert.ok(first.startsWith(`${world.url}/api/v4/projects/${id}/issues?id=${id}&`), first);
    assert.equal((await world.raw(`GET ${first.slice(world.url.length)}`)).status, 200);
  });

  it('is of the origin that the client used', async () => {
    const other = world.url.replace('127.0.0.1', 'localhost');
    const response = await fetch(`${other}/api/v4/issues?private_token=root-token-of-the-tests`).catch(
      () => null,
    );
    if (response === null) return; // no such name on this machine
    assert.ok((response.headers.get('link') ?? '').startsWith(`<${other}/api/v4/issues?`));
    await response.arrayBuffer();
  });

  it('has no newline or quote of the client’s making', async () => {
    const reply = await world.api(`GET ${list}?search=%0d%0aX-Evil:%201%22%3E`);
    assert.equal(reply.headers.get('x-evil'), null);
    assert.ok(!/["<>]/.test(links(reply)[0]![1]));
  });
});

it('with a configured URL the links are of that one', async () => {
  const own = await startWorld({ GANTRY_EXTERNAL_URL: 'https://code.example.org' });
  try {
    const address = own.gantry.service.app.server.address() as { port: number };
    const response = await fetch(`http://127.0.0.1:${address.port}/api/v4/issues`, {
      headers: { 'private-token': 'root-token-of-the-tests' },
    });
    assert.match(response.headers.get('link') ?? '', /^<https:\/\/code\.example\.org\/api\/v4\/issues\?/);
    await response.arrayBuffer();
  } finally {
    await own.close();
  }
});
