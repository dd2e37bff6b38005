/** API document, "Conventions", and behaviour book 1.1: paths, methods, encodings of identifiers. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedGroup } from '../../support/seed.ts';
import { type Team, type World, answer, startWorld } from '../world.ts';

let world: World;
let team: Team;
let path: string;
before(async () => {
  world = await startWorld();
  team = await world.team();
  const { iid } = await world.issue(team.id);
  path = `/projects/${team.id}/issues/${iid}`;
});
after(async () => await world.close());

const encoded = (full: string): string => full.replaceAll('/', '%2F');

describe('Prefix: {base_url}/api/v4', () => {
  for (const other of ['/api/v3', '/api/v5', '/api', '/v4']) {
    it(`${other}/issues is an unknown route`, async () => {
      assert.deepEqual(answer(await world.raw(`GET ${other}/issues`)), [404, { error: '404 Not Found' }]);
    });
  }

  it('/api/v4 itself is an unknown route, answered in JSON', async () => {
    for (const line of ['GET /api/v4', 'GET /api/v4/']) {
      assert.deepEqual(answer(await world.raw(line)), [404, { error: '404 Not Found' }]);
    }
  });

  it('an unknown path is 404 with the key `error`, before authentication', async () => {
    for (const as of [null, 'nonsense', undefined]) {
      const reply = await world.api('GET /nothing/here', as === undefined ? {} : { as });
      assert.deepEqual(answer(reply), [404, { error: '404 Not Found' }]);
    }
  });
});

describe(':id is an integer or the URL-encoded full path', () => {
  it('an integer', async () => assert.equal((await world.api(`GET ${path}`)).status, 200));

  it('the path with / as %2F, in every issue route', async () => {
    const id = encoded(team.full_path);
    const { iid } = await world.issue(team.id);
    const to = await world.project();
    const at = `/projects/${id}/issues/${iid}`;
    const lines: [string, number][] = [
      [`GET /projects/${id}/issues`, 200],
      [`POST /projects/${id}/issues?title=x`, 201],
      [`GET ${at}`, 200],
      [`PUT ${at}?title=y`, 200],
      [`POST ${at}/unsubscribe`, 201],
      [`POST ${at}/subscribe`, 201],
      [`POST ${at}/todo`, 201],
      [`POST ${at}/time_estimate?duration=1h`, 201],
      [`POST ${at}/reset_time_estimate`, 201],
      [`POST ${at}/add_spent_time?duration=1h`, 201],
      [`POST ${at}/reset_spent_time`, 201],
      [`GET ${at}/time_stats`, 200],
      [`GET ${at}/closed_by`, 200],
      [`GET ${at}/user_agent_detail`, 200],
      [`POST ${at}/move?to_project_id=${to.id}`, 201],
      [`DELETE ${at}`, 204],
    ];
    for (const [line, status] of lines) assert.equal((await world.api(line)).status, status, line);
  });

  it('%2f, and any case of the path', async () => {
    const upper = encoded(team.full_path.toUpperCase());
    for (const id of [encoded(team.full_path).replace('%2F', '%2f'), upper]) {
      assert.equal((await world.api(`GET /projects/${id}/issues/1`)).status, 200, id);
    }
  });

  it('a path with dots, blanks encoded as %2E', async () => {
    const dotted = await world.project({ path: 'site.example.org' });
    await world.issue(dotted.id);
    for (const id of [encoded(dotted.full_path), encoded(dotted.full_path).replaceAll('.', '%2E')]) {
      assert.equal((await world.api(`GET /projects/${id}/issues/1`)).status, 200, id);
    }
  });

  it('a path below subgroups', async () => {
    const top = await seedGroup(world.gantry);
    const below = await seedGroup(world.gantry, { parent: top.id });
    const deep = await world.project({ namespace: below.id });
    await world.issue(deep.id);
    assert.equal((await world.api(`GET /projects/${encoded(deep.full_path)}/issues/1`)).status, 200);
    assert.equal((await world.api(`GET /groups/${encoded(below.full_path)}/issues`)).body.length, 1);
  });

  it('digits are an id even if a group is named so', async () => {
    const group = await seedGroup(world.gantry, { path: '987654' });
    const inGroup = await world.project({ namespace: group.id });
    await world.issue(inGroup.id);
    assert.deepEqual(answer(await world.api('GET /groups/987654/issues')), [
      404,
      { message: '404 Group Not Found' },
    ]);
    assert.equal((await world.api(`GET /groups/${group.id}/issues`)).body.length, 1);
  });

  for (const id of ['nobody%2Fnothing', '999999', '0', '-1', '1.5', 'root', '%20', '9007199254740993']) {
    it(`${id} is no project`, async () => {
      assert.deepEqual(answer(await world.api(`GET /projects/${id}/issues`)), [
        404,
        { message: '404 Project Not Found' },
      ]);
    });
  }

  it('a project path that is not encoded is another route', async () => {
    assert.deepEqual(answer(await world.api(`GET /projects/${team.full_path}/issues`)), [
      404,
      { error: '404 Not Found' },
    ]);
  });

  it('a bad escape is refused', async () => {
    assert.equal((await world.api('GET /projects/%zz/issues')).status, 400);
  });
});

describe('No .json suffix is needed', () => {
  it('but it is taken after the last word and after an iid', async () => {
    for (const line of [
      'GET /issues.json?scope=all',
      `GET /projects/${team.id}/issues.json`,
      `GET ${path}.json`,
      `GET ${path}/time_stats.json`,
    ]) {
      const reply = await world.api(line);
      assert.equal(reply.status, 200, line);
      assert.equal(reply.headers.get('content-type'), 'application/json');
    }
  });

  it('a project path that ends in .json keeps working', async () => {
    const project = await world.project({ path: 'package.json' });
    await world.issue(project.id);
    assert.equal((await world.api(`GET /projects/${encoded(project.full_path)}/issues`)).body.length, 1);
    assert.equal((await world.api(`GET /projects/${encoded(project.full_path)}/issues.json`)).body.length, 1);
  });

  it('another extension is an unknown route', async () => {
    for (const line of ['GET /issues.xml', `GET /projects/${team.id}/issues.txt`]) {
      assert.deepEqual(answer(await world.api(line)), [404, { error: '404 Not Found' }]);
    }
    assert.equal((await world.api(`GET ${path}.xml`)).status, 400);
  });

  it('Accept is ignored', async () => {
    for (const accept of ['text/plain', 'application/xml', '*/*', 'application/json; q=0']) {
      const reply = await world.api(`GET ${path}`, { headers: { accept } });
      assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'application/json']);
    }
  });
});

describe('Trailing and duplicate slashes', () => {
  const lines = (): [string, number][] => [
    [`POST /api/v4/projects/${team.id}/issues/?title=x`, 201],
    [`GET /api/v4/projects/${team.id}/issues/?state=opened`, 200],
    [`GET /api/v4//projects/${team.id}//issues`, 200],
    [`PUT /api/v4/projects/${team.id}/issues//1?title=x`, 200],
    [`GET //api/v4/projects/${team.id}/issues/1//`, 200],
  ];
  for (const index of [0, 1, 2, 3, 4]) {
    it(`are squeezed: ${['POST issues/', 'GET issues/?', '//projects//issues', 'PUT issues//1', '//api'][index]}`, async () => {
      const [line, status] = lines()[index]!;
      assert.equal((await world.raw(line)).status, status, line);
    });
  }
});

describe('Parameters of POST and PUT may be given in the query string', () => {
  it('POST', async () => {
    const reply = await world.api(
      `POST /projects/${team.id}/issues?title=In%20query&labels=a,b&confidential=true`,
    );
    const { title, labels, confidential } = reply.body;
    assert.deepEqual([reply.status, title, labels, confidential], [201, 'In query', ['a', 'b'], true]);
  });

  it('PUT', async () => {
    const reply = await world.api(`PUT ${path}?title=Edited&labels=`);
    assert.deepEqual([reply.status, reply.body.title], [200, 'Edited']);
  });

  it('the body wins over the query', async () => {
    const reply = await world.api(`POST /projects/${team.id}/issues?title=query&description=query`, {
      json: { title: 'body' },
    });
    assert.deepEqual([reply.body.title, reply.body.description], ['body', 'query']);
  });

  it('nothing in query or body replaces a path parameter', async () => {
    const other = await world.project();
    const reply = await world.api(`PUT ${path}?id=${other.id}`, {
      json: { title: 'x', issue_iid: 999, id: other.id },
    });
    assert.deepEqual([reply.status, reply.body.project_id], [200, team.id]);
  });

  it('the issue move call is also shown with a JSON body', async () => {
    const { iid } = await world.issue(team.id);
    const to = await world.project();
    const reply = await world.api(`POST /projects/${team.id}/issues/${iid}/move`, {
      json: { to_project_id: to.id },
    });
    assert.deepEqual([reply.status, reply.body.project_id], [201, to.id]);
  });

  it('and with a JSON body under a form type, as curl --data sends it', async () => {
    const { iid } = await world.issue(team.id);
    const to = await world.project();
    const form = `{"to_project_id": ${to.id}}`;
    const reply = await world.api(`POST /projects/${team.id}/issues/${iid}/move`, { form });
    assert.deepEqual([reply.status, reply.body.project_id], [201, to.id]);
  });
});

describe('Success statuses: GET and PUT 200; POST 201 with the created resource; DELETE 204', () => {
  it('for each of the 18 issue endpoints', async () => {
    const { iid } = await world.issue(team.id);
    const group = await seedGroup(world.gantry);
    const at = `/projects/${team.id}/issues/${iid}`;
    const to = await world.project();
    const lines: [string, number][] = [
      ['GET /issues', 200],
      [`GET /groups/${group.id}/issues`, 200],
      [`GET /projects/${team.id}/issues`, 200],
      [`GET ${at}`, 200],
      [`POST /projects/${team.id}/issues?title=x`, 201],
      [`PUT ${at}?title=x`, 200],
      [`POST ${at}/unsubscribe`, 201],
      [`POST ${at}/subscribe`, 201],
      [`POST ${at}/todo`, 201],
      [`POST ${at}/time_estimate?duration=1h`, 201],
      [`POST ${at}/reset_time_estimate`, 201],
      [`POST ${at}/add_spent_time?duration=1h`, 201],
      [`POST ${at}/reset_spent_time`, 201],
      [`GET ${at}/time_stats`, 200],
      [`GET ${at}/closed_by`, 200],
      [`GET ${at}/user_agent_detail`, 200],
      [`POST ${at}/move?to_project_id=${to.id}`, 201],
      [`DELETE ${at}`, 204],
    ];
    for (const [line, status] of lines) {
      const reply = await world.api(line);
      assert.equal(reply.status, status, line);
      const isJson = status !== 204;
      assert.equal(reply.headers.get('content-type'), isJson ? 'application/json' : null, line);
      assert.equal(reply.text === '', !isJson, line);
    }
  });
});

describe('HEAD', () => {
  const headersOf = (headers: Headers): object => {
    const varying = new Set(['date', 'x-request-id', 'x-runtime', 'connection', 'keep-alive']);
    return Object.fromEntries([...headers].filter(([name]) => !varying.has(name)));
  };

  it('answers every GET route with the same status and headers and no body', async () => {
    const ok = ['/issues', `/projects/${team.id}/issues`, path, `${path}/time_stats`, `${path}/closed_by`];
    for (const route of [...ok, '/projects/999999/issues', `/projects/${team.id}/issues?state=foo`]) {
      const [get, head] = [await world.api(`GET ${route}`), await world.api(`HEAD ${route}`)];
      assert.equal(head.status, get.status, route);
      assert.deepEqual(headersOf(head.headers), headersOf(get.headers), route);
      assert.equal(head.text, '');
    }
  });

  it('asks for a credential as GET does', async () => {
    assert.equal((await world.api('HEAD /issues', { as: null })).status, 401);
  });
});

describe('OPTIONS', () => {
  const allowed: [string, string][] = [
    ['/issues', 'OPTIONS, GET, HEAD'],
    ['/projects/1/issues', 'OPTIONS, GET, POST, HEAD'],
    ['/projects/1/issues/1', 'OPTIONS, GET, PUT, DELETE, HEAD'],
    ['/projects/1/issues/1/move', 'OPTIONS, POST'],
    ['/projects/1/issues/1/time_stats', 'OPTIONS, GET, HEAD'],
  ];
  for (const [route, allow] of allowed) {
    it(`${route}: 204 with Allow, no credential needed`, async () => {
      const reply = await world.api(`OPTIONS ${route}`, { as: null });
      assert.deepEqual([reply.status, reply.text], [204, '']);
      assert.equal(reply.headers.get('content-type'), null);
      const words = (text: string | null) => text?.split(', ').toSorted();
      assert.deepEqual(words(reply.headers.get('allow')), words(allow));
    });
  }

  it('a preflight is answered 200 without authentication; any origin, without credentials', async () => {
    const headers = {
      origin: 'https://elsewhere.example',
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'private-token',
    };
    const reply = await world.api(`OPTIONS ${path}`, { as: null, headers });
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get('access-control-allow-origin'), '*');
    assert.equal(reply.headers.get('access-control-allow-credentials'), null);
    assert.equal(reply.headers.get('access-control-allow-headers'), 'private-token');
    assert.match(reply.headers.get('access-control-allow-methods') ?? '', /PUT/);
  });

  it('a cross-origin answer exposes Link and the pagination headers', async () => {
    const reply = await world.api('GET /issues', { headers: { origin: 'https://elsewhere.example' } });
    assert.equal(
      reply.headers.get('access-control-expose-headers'),
      'Link, X-Total, X-Total-Pages, X-Per-Page, X-Page, X-Next-Page, X-Prev-Page, Gantry-Ignored-Parameters',
    );
  });
});

describe('A known path with another method', () => {
  for (const line of [
    'POST /issues',
    'DELETE /projects/1/issues',
    'PUT /projects/1/issues',
    'POST /projects/1/issues/1',
    'PATCH /projects/1/issues/1',
    'GET /projects/1/issues/1/move',
    'PUT /projects/1/issues/1/subscribe',
    'DELETE /projects/1/issues/1/time_stats',
  ]) {
    it(`${line}: 405 with Allow`, async () => {
      const reply = await world.api(line);
      assert.deepEqual(answer(reply), [405, { message: '405 Method Not Allowed' }]);
      assert.ok(reply.headers.get('allow'));
    });
  }

  it('?_method and X-HTTP-Method-Override change nothing', async () => {
    await world.api(`GET ${path}?_method=DELETE`, { headers: { 'x-http-method-override': 'DELETE' } });
    assert.equal((await world.api(`GET ${path}`)).status, 200);
  });
});

describe('Headers of every answer', () => {
  it('X-Request-Id is echoed if valid, else generated', async () => {
    const reply = await world.api(`GET ${path}`, { headers: { 'x-request-id': 'abcdef-123' } });
    assert.equal(reply.headers.get('x-request-id'), 'abcdef-123');
    const odd = await world.api(`GET ${path}`, { headers: { 'x-request-id': 'a b' } });
    assert.match(odd.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
  });

  it('X-Runtime, Vary, X-Frame-Options, X-Content-Type-Options, Cache-Control', async () => {
    for (const [line, as] of [
      [`GET ${path}`, undefined],
      ['GET /nothing', undefined],
      ['GET /issues', null],
      [`PUT ${path}`, undefined],
    ] as const) {
      const { headers } = await world.api(line, as === undefined ? {} : { as });
      assert.match(headers.get('x-runtime') ?? '', /^\d+\.\d{6}$/);
      assert.match(headers.get('vary') ?? '', /Origin/);
      assert.equal(headers.get('x-frame-options'), 'SAMEORIGIN');
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.equal(headers.get('cache-control'), 'max-age=0, private, must-revalidate');
    }
  });

  it('a GET has a weak ETag; If-None-Match with it is 304 without body and content type', async () => {
    for (const route of [path, `/projects/${team.id}/issues`]) {
      const first = await world.api(`GET ${route}`);
      const etag = first.headers.get('etag') ?? '';
      assert.match(etag, /^W\/"[\w-]+"$/);
      for (const sent of [etag, `"other", ${etag}`]) {
        const again = await world.api(`GET ${route}`, { headers: { 'if-none-match': sent } });
        assert.deepEqual([again.status, again.text, again.headers.get('content-type')], [304, '', null]);
        assert.equal(again.headers.get('etag'), etag);
      }
      assert.equal((await world.api(`GET ${route}`, { headers: { 'if-none-match': 'W/"0"' } })).status, 200);
    }
  });

  it('a changed record answers 200 to its old ETag', async () => {
    const { iid } = await world.issue(team.id);
    const at = `/projects/${team.id}/issues/${iid}`;
    const headers = { 'if-none-match': (await world.api(`GET ${at}`)).headers.get('etag') ?? '' };
    await world.api(`PUT ${at}?title=other`);
    assert.equal((await world.api(`GET ${at}`, { headers })).status, 200);
  });

  it('a user who lost access gets 404 for a record with a matching ETag, not 304', async () => {
    const secret = await world.team({ visibility: 'private' });
    await world.issue(secret.id);
    const at = `/projects/${secret.id}/issues/1`;
    const as = secret.guest.token;
    const headers = { 'if-none-match': (await world.api(`GET ${at}`, { as })).headers.get('etag') ?? '' };
    assert.equal((await world.api(`GET ${at}`, { as, headers })).status, 304);
    await world.gantry.service.platform.store.write(async (tx) => {
      await tx.db.deleteFrom('members').where('user_id', '=', secret.guest.id).execute();
    });
    assert.equal((await world.api(`GET ${at}`, { as, headers })).status, 404);
  });
});

describe('A private project is hidden from non-members', () => {
  it('each issue endpoint answers as if the project did not exist', async () => {
    const hidden = await world.project({ visibility: 'private' });
    await world.issue(hidden.id);
    const as = team.stranger.token;
    const lines = (id: number): string[] => [
      `GET /projects/${id}/issues`,
      `POST /projects/${id}/issues?title=x`,
      `GET /projects/${id}/issues/1`,
      `PUT /projects/${id}/issues/1?title=x`,
      `DELETE /projects/${id}/issues/1`,
      `POST /projects/${id}/issues/1/move?to_project_id=1`,
      `POST /projects/${id}/issues/1/subscribe`,
      `POST /projects/${id}/issues/1/unsubscribe`,
      `POST /projects/${id}/issues/1/todo`,
      `POST /projects/${id}/issues/1/time_estimate?duration=1h`,
      `POST /projects/${id}/issues/1/reset_time_estimate`,
      `POST /projects/${id}/issues/1/add_spent_time?duration=1h`,
      `POST /projects/${id}/issues/1/reset_spent_time`,
      `GET /projects/${id}/issues/1/time_stats`,
      `GET /projects/${id}/issues/1/closed_by`,
    ];
    const missing = lines(999_999);
    for (const [index, line] of lines(hidden.id).entries()) {
      const [one, other] = [await world.api(line, { as }), await world.api(missing[index]!, { as })];
      assert.deepEqual(answer(one), [404, { message: '404 Project Not Found' }], line);
      assert.deepEqual(answer(one), answer(other), line);
    }
  });
});
