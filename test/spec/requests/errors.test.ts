/** API document, "Errors": status codes and body shapes; behaviour book 1.2 and 1.3. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Reply, type Team, type World, answer, startWorld } from '../world.ts';

let world: World;
let team: Team;
let list: string;
before(async () => {
  world = await startWorld();
  team = await world.team();
  list = `/projects/${team.id}/issues`;
  await world.issue(team.id);
});
after(async () => await world.close());

describe('Status codes', () => {
  const rows: [number, string, () => Promise<Reply>][] = [
    [200, 'GET succeeded', () => world.api(`GET ${list}/1`)],
    [200, 'PUT succeeded', () => world.api(`PUT ${list}/1?title=x`)],
    [201, 'POST created', () => world.api(`POST ${list}?title=x`)],
    [
      204,
      'success with no body',
      async () => await world.api(`DELETE ${list}/${(await world.issue(team.id)).iid}`),
    ],
    [304, 'already subscribed', () => world.api(`POST ${list}/1/subscribe`)],
    [304, 'not subscribed', () => world.api(`POST ${list}/1/unsubscribe`, { as: team.guest.token })],
    [
      304,
      'todo already exists',
      async () => {
        await world.api(`POST ${list}/1/todo`);
        return await world.api(`POST ${list}/1/todo`);
      },
    ],
    [400, 'required attribute missing', () => world.api(`POST ${list}`)],
    [400, 'attribute failed validation', () => world.api(`POST ${list}?title=%20`)],
    [400, 'move to the same project', () => world.api(`POST ${list}/1/move?to_project_id=${team.id}`)],
    [
      400,
      'move without permission',
      () => world.api(`POST ${list}/1/move?to_project_id=${team.id}`, { as: team.guest.token }),
    ],
    [401, 'not authenticated', () => world.api(`GET ${list}`, { as: null })],
    [403, 'request not allowed', () => world.api(`GET ${list}?sudo=root`, { as: team.guest.token })],
    [404, 'resource not found', () => world.api(`GET ${list}/999999`)],
    [404, 'unknown route', () => world.api('GET /nothing')],
    [405, 'request not supported', () => world.api(`PATCH ${list}`)],
    [
      406,
      'content type not supported',
      () => world.raw(`POST /api/v4${list}`, { body: '<x/>', headers: { 'content-type': 'text/xml' } }),
    ],
    [
      412,
      'If-Unmodified-Since on a resource modified meanwhile',
      () =>
        world.api(`DELETE ${list}/1`, {
          headers: { 'if-unmodified-since': 'Thu, 01 Jan 2015 00:00:00 GMT' },
        }),
    ],
  ];
  for (const [status, name, call] of rows) {
    it(`${status}: ${name}`, async () => {
      const reply = await call();
      assert.equal(reply.status, status, reply.text);
      const isEmpty = status === 204 || status === 304;
      assert.equal(reply.text === '', isEmpty);
      assert.equal(reply.headers.get('content-type'), isEmpty ? null : 'application/json');
    });
  }

  it('412 has its body', async () => {
    const headers = { 'if-unmodified-since': 'Thu, 01 Jan 2015 00:00:00 GMT' };
    assert.deepEqual(answer(await world.api(`DELETE ${list}/1`, { headers })), [
      412,
      { message: '412 Precondition Failed' },
    ]);
  });
});

describe('Body shapes', () => {
  it('1. missing attribute: the first in declaration order', async () => {
    assert.deepEqual(answer(await world.api(`POST ${list}`)), [
      400,
      { message: '400 (Bad request) "title" not given' },
    ]);
    assert.deepEqual(answer(await world.api(`POST ${list}/1/move`)), [
      400,
      { message: '400 (Bad request) "to_project_id" not given' },
    ]);
    assert.deepEqual(answer(await world.api(`POST ${list}/1/add_spent_time`)), [
      400,
      { message: '400 (Bad request) "duration" not given' },
    ]);
  });

  it('2. validation failure: property names to arrays of strings, all at once', async () => {
    const json = {
      title: 'x',
      confidential: 'foo',
      milestone_id: 'abc',
      due_date: 'never',
      labels: { a: 1 },
    };
    assert.deepEqual(answer(await world.api(`POST ${list}`, { json })), [
      400,
      {
        message: {
          confidential: ['is invalid'],
          milestone_id: ['is invalid'],
          labels: ['is invalid'],
          due_date: ['is invalid'],
        },
      },
    ]);
  });

  it('3. unknown route: {"error": "404 Not Found"}', async () => {
    for (const line of [
      'GET /x',
      'POST /projects/1/issues/1/nothing',
      'DELETE /issues/1',
      'GET /projects/1/issues/1/2/3',
    ]) {
      assert.deepEqual(answer(await world.api(line)), [404, { error: '404 Not Found' }], line);
    }
  });

  it('4. authentication and sudo errors: {"message": text}', async () => {
    assert.deepEqual(answer(await world.api(`GET ${list}`, { as: null })), [
      401,
      { message: '401 Unauthorized' },
    ]);
    assert.deepEqual(answer(await world.api(`GET ${list}?sudo=x`, { as: team.guest.token })), [
      403,
      { message: '403 Forbidden - Must be admin to use sudo' },
    ]);
    assert.deepEqual(answer(await world.api(`GET ${list}?sudo=x`)), [
      404,
      { message: '404 Not Found: No user id or username for: x' },
    ]);
  });

  it('never both `error` and `message`', async () => {
    for (const line of [
      'GET /x',
      `POST ${list}`,
      `GET ${list}?state=x`,
      `GET ${list}/999`,
      `PATCH ${list}`,
    ]) {
      assert.equal(Object.keys((await world.api(line)).body).length, 1, line);
    }
  });
});

describe('Texts of 403 and 404', () => {
  const rows: [string, number, string, string?][] = [
    ['GET /projects/999999/issues', 404, '404 Project Not Found'],
    ['GET /groups/999999/issues', 404, '404 Group Not Found'],
    ['GET L/999999', 404, '404 Not found'],
    ['PUT L/999999?title=x', 404, '404 Not found'],
    ['DELETE L/999999', 404, '404 Issue Not Found'],
    ['POST L/999999/move?to_project_id=1', 404, '404 Issue Not Found'],
    ['POST L/1/move?to_project_id=999999', 404, '404 Project Not Found'],
    ['PUT L/1?title=x', 403, '403 Forbidden', 'guest'],
    ['DELETE L/1', 403, '403 Forbidden', 'guest'],
    ['GET L/1/user_agent_detail', 403, '403 Forbidden', 'guest'],
  ];
  for (const [line, status, message, who] of rows) {
    it(`${line}${who === undefined ? '' : ` as a ${who}`}: ${message}`, async () => {
      const reply = await world.api(
        line.replace(' L', ` ${list}`),
        who === undefined ? {} : { as: team.guest.token },
      );
      assert.deepEqual(answer(reply), [status, { message }]);
    });
  }
});

describe('Coercion of integers', () => {
  const at = async (milestone_id: unknown): Promise<Reply> =>
    await world.api(`POST ${list}`, { json: { title: 'x', milestone_id } });
  let milestone: number;
  before(async () => {
    milestone = (await world.milestone(team.id)).id;
  });
  for (const form of ['ID', '+ID', 'ID.9', 'IDe0', ' ID ']) {
    it(`${JSON.stringify(form)} is taken`, async () => {
      const reply = await at(form.replace('ID', String(milestone)));
      assert.deepEqual([reply.status, reply.body.milestone?.id], [201, milestone]);
    });
  }
  it('JSON numbers are taken', async () => assert.equal((await at(milestone)).body.milestone.id, milestone));
  for (const odd of ['', null, '-5', 0]) {
    it(`${JSON.stringify(odd)} is none`, async () => assert.equal((await at(odd)).body.milestone, null));
  }
  const bad = [
    'abc',
    '0x10',
    '１',
    '1 2',
    '1e99',
    '9007199254740992',
    '-9007199254740992',
    [1],
    { a: 1 },
    true,
    1e21,
    '1_000',
  ];
  for (const odd of bad) {
    it(`${JSON.stringify(odd)} is invalid`, async () =>
      assert.deepEqual(answer(await at(odd)), [400, { message: { milestone_id: ['is invalid'] } }]));
  }
});

describe('Scalars given as arrays or objects, by every channel: never 500, never a wider result', () => {
  const scalars = [
    'title',
    'description',
    'confidential',
    'assignee_id',
    'milestone_id',
    'due_date',
    'created_at',
  ];
  for (const name of scalars) {
    it(name, async () => {
      const valid = name === 'title' ? '' : 'title=x&';
      for (const query of [
        `${name}[]=1`,
        `${name}[a]=1`,
        `${name}=1&${name}=2`,
        `${name}[0]=1`,
        `${name}[][a]=1`,
      ]) {
        const reply = await world.api(`POST ${list}?${valid}${query}`);
        assert.deepEqual(answer(reply), [400, { message: { [name]: ['is invalid'] } }], query);
      }
      for (const value of [[], {}, [[]], [null], { a: { b: 1 } }]) {
        const reply = await world.api(`POST ${list}`, { json: { title: 'x', [name]: value } });
        assert.deepEqual(
          answer(reply),
          [400, { message: { [name]: ['is invalid'] } }],
          JSON.stringify(value),
        );
      }
    });
  }
});

describe('Bodies', () => {
  const post = async (body: string | Buffer, type?: string): Promise<Reply> =>
    await world.raw(`POST /api/v4${list}`, {
      body,
      ...(type !== undefined && { headers: { 'content-type': type } }),
    });
  const badJson = [400, { message: '400 (Bad request) invalid JSON body' }];

  for (const [type, body] of [
    ['application/json', '{"title":"x"}'],
    ['application/json; charset=utf-8', '{"title":"x"}'],
    ['APPLICATION/JSON', ' {"title":"x"} '],
    ['application/x-www-form-urlencoded', 'title=x'],
    ['application/x-www-form-urlencoded; charset=UTF-8', 'title=x&labels='],
    ['application/x-www-form-urlencoded', '{"title":"x"}'],
    [
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="title"\r\n\r\nx\r\n--b--\r\n',
    ],
    [undefined, 'title=x'],
    [undefined, '{"title":"x"}'],
  ] as const) {
    it(`${type ?? 'no type'}: ${body.slice(0, 20)}`, async () => {
      const reply = await post(body, type);
      assert.deepEqual([reply.status, reply.body.title], [201, 'x']);
    });
  }

  it('text/plain has no parameters', async () => {
    assert.deepEqual(answer(await post('title=x', 'text/plain')), [
      400,
      { message: '400 (Bad request) "title" not given' },
    ]);
  });
  it('JSON null has no parameters', async () => {
    assert.deepEqual(answer(await post('null', 'application/json')), [
      400,
      { message: '400 (Bad request) "title" not given' },
    ]);
    const headers = { 'content-type': 'application/json' };
    const reply = await world.raw(`POST /api/v4${list}?title=x`, { body: 'null', headers });
    assert.deepEqual([reply.status, reply.body.title], [201, 'x']);
  });
  it('a body without a type counts on POST only', async () => {
    assert.equal((await world.raw(`PUT /api/v4${list}/1`, { body: 'title=x' })).status, 400);
  });
  for (const body of ['{', '{"title":"x"', "{'title':'x'}", '[]', '[1]', '"x"', '1', 'title=x', ' ']) {
    it(`malformed JSON: ${JSON.stringify(body)}`, async () =>
      assert.deepEqual(answer(await post(body, 'application/json')), badJson));
  }
  for (const type of ['application/xml', 'image/png', 'application/vnd.api+json', 'x']) {
    it(`an unknown content type with a body: 406 for ${type}`, async () =>
      assert.deepEqual(answer(await post('x', type)), [
        406,
        { error: `The requested content-type '${type}' is not supported.` },
      ]));
  }
  it('an unknown content type without a body is no matter', async () => {
    const headers = { 'content-type': 'application/xml' };
    assert.equal((await world.raw(`POST /api/v4${list}?title=x`, { headers })).status, 201);
    assert.equal((await world.raw(`GET /api/v4${list}`, { headers })).status, 200);
  });
  for (const body of [
    '--b\r\nContent-Disposition: form-data; name="title"\r\n\r\nx',
    '--x--',
    '',
    'nonsense',
  ]) {
    it(`broken multipart: ${JSON.stringify(body.slice(0, 12))} is answered 400`, async () =>
      assert.equal((await post(body, 'multipart/form-data; boundary=b')).status, 400));
  }
  it('multipart without a boundary: 400', async () =>
    assert.equal((await post('x', 'multipart/form-data')).status, 400));
  it('bytes that are no UTF-8 do no harm', async () => {
    for (const type of ['application/json', 'application/x-www-form-urlencoded']) {
      const text = type.endsWith('json') ? ['{"title":"', '"}'] : ['title=', ''];
      const body = Buffer.concat([
        Buffer.from(text[0]!),
        Buffer.from([0xff, 0xfe, 0x41]),
        Buffer.from(text[1]!),
      ]);
      assert.ok([201, 400].includes((await post(body, type)).status));
    }
    assert.ok([201, 400].includes((await world.api(`POST ${list}?title=%ff%fe`)).status));
  });
});

describe('Prototype keys are parameters like any other: ignored', () => {
  for (const body of [
    '{"title":"x","__proto__":{"confidential":true,"admin":true}}',
    '{"title":"x","constructor":{"prototype":{"confidential":true}}}',
    '{"title":"x","toString":1,"hasOwnProperty":1,"valueOf":null}',
  ]) {
    it(body, async () => {
      const headers = { 'content-type': 'application/json' };
      const reply = await world.raw(`POST /api/v4${list}`, { body, headers });
      assert.deepEqual([reply.status, reply.body.confidential], [201, false]);
    });
  }
  it('in forms and queries', async () => {
    const form = 'title=x&__proto__[confidential]=true&constructor[prototype][confidential]=true';
    assert.equal((await world.api(`POST ${list}`, { form })).body.confidential, false);
    assert.equal((await world.api(`POST ${list}?${form}`)).body.confidential, false);
    assert.equal(({} as { confidential?: unknown }).confidential, undefined);
  });
});

it('an unexpected error is never shown, and none of these calls is one', async () => {
  const odd = [
    '%00',
    '%ed%a0%80',
    "'",
    '"',
    '\\',
    '%',
    '*',
    '../..',
    '%2e%2e',
    '{{7*7}}',
    '${x}',
    '%F0%9F%98%80'.repeat(20),
  ];
  for (const text of odd) {
    for (const name of [
      'search',
      'labels',
      'milestone',
      'author_username',
      'my_reaction_emoji',
      'state',
      'iids[]',
      'x',
    ]) {
      const reply = await world.api(`GET ${list}?${name}=${text}`);
      assert.ok([200, 400].includes(reply.status), `${name}=${text}: ${reply.status}`);
    }
  }
});
