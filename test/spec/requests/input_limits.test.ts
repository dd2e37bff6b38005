/** "Limits": the longest, largest and deepest that is taken, and what one more is answered. */
import assert from 'node:assert/strict';
import { type ClientRequest, request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { until } from '../../support/until.ts';
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

const mebi = 1_048_576;
const create = async (json: object): Promise<Reply> => await world.api(`POST ${list}`, { json });
const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

describe('Lengths count code points', () => {
  it('title 255', async () => {
    assert.equal((await create({ title: '😀'.repeat(255) })).status, 201);
    for (const title of ['😀'.repeat(256), 'x'.repeat(256)]) {
      assert.deepEqual(answer(await create({ title })), [
        400,
        { message: { title: ['is too long (maximum is 255 characters)'] } },
      ]);
    }
  });

  it('description 1,048,576', async () => {
    const longest = 'x'.repeat(mebi);
    const { status, body } = await create({ title: 'x', description: longest });
    assert.equal(status, 201);
    assert.equal(body.description.length, mebi);
    const tooLong = { message: { description: [`is too long (maximum is ${mebi} characters)`] } };
    assert.deepEqual(answer(await create({ title: 'x', description: `${longest}x` })), [400, tooLong]);
    const edit = await world.api(`PUT ${list}/1`, { json: { description: `${longest}x` } });
    assert.deepEqual(answer(edit), [400, tooLong]);
    assert.equal(
      (await world.api(`PUT ${list}/1`, { json: { description: 'é'.repeat(1_000_000) } })).status,
      200,
    );
  });

  it('a search has at most 255 characters', async () => {
    assert.equal((await world.api(`GET ${list}?search=${'x'.repeat(255)}`)).status, 200);
    assert.deepEqual(answer(await world.api(`GET ${list}?search=${'x'.repeat(256)}`)), [
      400,
      { message: { search: ['is too long (maximum is 255 characters)'] } },
    ]);
    const wide = await world.api(`GET ${list}?search=${encodeURIComponent('🎈'.repeat(255))}`);
    assert.deepEqual([wide.status, wide.body], [200, []]);
  });

  it('milestone title, author name and emoji as filters 255', async () => {
    for (const name of ['milestone', 'author_username', 'my_reaction_emoji']) {
      assert.deepEqual((await world.api(`GET ${list}?${name}=${'x'.repeat(255)}`)).body, []);
      assert.deepEqual(answer(await world.api(`GET ${list}?${name}=${'x'.repeat(256)}`)), [
        400,
        { message: { [name]: ['is too long (maximum is 255 characters)'] } },
      ]);
    }
  });
});

describe('Numbers of values', () => {
  const many = (count: number): number[] => Array.from({ length: count }, (_, n) => n + 1);
  it('100 assignees', async () => {
    assert.equal((await create({ title: 'x', assignee_ids: many(100) })).status, 201);
    for (const assignee_ids of [many(101), many(40_000), many(101).join(',')]) {
      assert.deepEqual(answer(await create({ title: 'x', assignee_ids })), [
        400,
        { message: { assignee_ids: ['is too long (maximum is 100 values)'] } },
      ]);
    }
  });
  it('100 labels, in each of the three parameters', async () => {
    for (const name of ['labels', 'add_labels', 'remove_labels']) {
      const labels = many(100).map((n) => `l${n}`);
      assert.equal((await world.api(`PUT ${list}/1`, { json: { [name]: labels } })).status, 200);
      assert.deepEqual(answer(await world.api(`PUT ${list}/1`, { json: { [name]: [...labels, 'l101'] } })), [
        400,
        { message: { [name]: ['is too long (maximum is 100 values)'] } },
      ]);
    }
  });
  it('100 iids, and a flood of them in a form is no 500', async () => {
    const flood = many(40_000)
      .map((n) => `assignee_ids[]=${n}`)
      .join('&');
    const reply = await world.api(`POST ${list}`, { form: `title=x&${flood}` });
    assert.deepEqual(answer(reply), [
      400,
      { message: { assignee_ids: ['is too long (maximum is 100 values)'] } },
    ]);
  });
});

describe('Body 2 MiB', () => {
  const padded = (size: number): string => {
    const start = '{"title":"x","padding":"';
    return `${start}${'x'.repeat(size - start.length - 2)}"}`;
  };
  it('2,097,152 bytes are taken', async () => {
    const reply = await world.raw(`POST /api/v4${list}`, { body: padded(2 * mebi), headers: json });
    assert.equal(reply.status, 201);
  });
  for (const [name, headers] of [
    ['JSON', json],
    ['a form', form],
    ['multipart', { 'content-type': 'multipart/form-data; boundary=b' }],
    ['anything else', { 'content-type': 'application/xml' }],
  ] as const) {
    it(`one more of ${name}: 413`, async () => {
      const reply = await world.raw(`POST /api/v4${list}`, {
        body: padded(2 * mebi + 1),
        headers: { ...headers },
      });
      assert.deepEqual(answer(reply), [413, { message: '413 Request Entity Too Large' }]);
    });
  }
  it('the connection that sent it is of no more use; the service is', async () => {
    assert.equal((await world.api(`GET ${list}/1`)).status, 200);
  });
});

describe('Query 8 KiB', () => {
  const query = (length: number): string => `x=${'y'.repeat(length - 2)}`;
  it('8,192 bytes are taken', async () => {
    assert.equal((await world.api(`GET ${list}/1?${query(8192)}`)).status, 200);
  });
  it('one more: 414', async () => {
    for (const line of [`GET ${list}?${query(8193)}`, `POST ${list}?title=x&${query(8193)}`]) {
      assert.deepEqual(answer(await world.api(line)), [414, { message: '414 Request-URI Too Long' }]);
    }
  });
  it('a path parameter that is far too long: 414', async () => {
    assert.equal((await world.api(`GET /projects/${'x'.repeat(8193)}/issues`)).status, 414);
    assert.equal((await world.api(`GET /projects/${'x'.repeat(1001)}/issues`)).status, 400);
    assert.equal((await world.api(`GET /projects/${'x'.repeat(1000)}/issues`)).status, 404);
  });
});

describe('JSON 32 levels deep', () => {
  const nested = (depth: number): string =>
    `{"title":"x","deep":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
  it('32 are taken', async () => {
    const reply = await world.raw(`POST /api/v4${list}`, { body: nested(32), headers: json });
    assert.equal(reply.status, 201);
  });
  for (const depth of [33, 1000, 200_000]) {
    it(`${depth}: 400`, async () => {
      const reply = await world.raw(`POST /api/v4${list}`, { body: nested(depth), headers: json });
      assert.deepEqual(answer(reply), [400, { message: '400 (Bad request) invalid JSON body' }]);
    });
  }
  it('in a query and a form, too deep a name is a name like any other', async () => {
    const deep = `x${'[a]'.repeat(1000)}=1`;
    assert.equal((await world.api(`GET ${list}?${deep}`)).status, 200);
    assert.equal((await world.api(`POST ${list}`, { form: `title=x&${deep}` })).status, 201);
  });
  it('more than 1000 keys: 400', async () => {
    const keys = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`k${n}`, n]));
    assert.equal((await create({ title: 'x', ...keys })).status, 400);
  });
});

describe('Characters', () => {
  const bad: [string, unknown][] = [
    ['NUL', 'a\0b'],
    ['a lone high surrogate', 'a\ud800'],
    ['a lone low surrogate', '\udc00b'],
  ];
  for (const [name, text] of bad) {
    it(`${name}: 400 in every text, alike on both stores`, async () => {
      const escaped = JSON.stringify(text).replaceAll(
        /[\ud800-\udfff]/g,
        (c) => `\\u${c.charCodeAt(0).toString(16)}`,
      );
      for (const field of [
        'title',
        'description',
        'labels',
        'due_date',
        'created_at',
        'confidential',
        'milestone_id',
      ]) {
        const title = field === 'title' ? '' : '"title":"x",';
        const reply = await world.raw(`POST /api/v4${list}`, {
          body: `{${title}"${field}":${escaped}}`,
          headers: json,
        });
        assert.deepEqual(answer(reply), [400, { message: { [field]: ['is invalid'] } }], field);
      }
      const inArray = await world.raw(`POST /api/v4${list}`, {
        body: `{"title":"x","labels":["a",${escaped}]}`,
        headers: json,
      });
      assert.deepEqual(answer(inArray), [400, { message: { labels: ['is invalid'] } }]);
    });
  }
  it('NUL in a query, a form and a path', async () => {
    assert.deepEqual(answer(await world.api(`GET ${list}?search=a%00`)), [
      400,
      { message: { search: ['is invalid'] } },
    ]);
    assert.deepEqual(answer(await world.api(`POST ${list}`, { form: 'title=%00' })), [
      400,
      { message: { title: ['is invalid'] } },
    ]);
    assert.equal((await world.api('GET /projects/a%00b/issues')).status, 400);
    assert.equal((await world.api(`GET ${list}/1%00`)).status, 400);
    assert.equal((await world.api('GET /issues?sudo=a%00b')).status, 404);
    assert.equal((await world.api('GET /issues?private_token=a%00b', { as: null })).status, 401);
  });
  it('every other character is kept', async () => {
    const title = '\u0001\u001f\u007f\u0085\u200b\u202e\ufeff\ufffe\u{10ffff}x';
    const { body } = await create({ title });
    assert.equal(body.title, title.trim());
    assert.equal((await world.api(`GET ${list}/${body.iid}`)).body.title, title.trim());
  });
});

describe('Integers beyond 2^53', () => {
  const odd = ['9007199254740992', '-9007199254740992', '9223372036854775808', '99999999999999999999999'];
  for (const number of odd) {
    it(`${number}: 400, or no such record`, async () => {
      const invalid = (name: string) => [400, { message: { [name]: ['is invalid'] } }];
      assert.deepEqual(answer(await world.api(`GET ${list}/${number}`)), invalid('issue_iid'));
      for (const name of ['author_id', 'assignee_id', 'page']) {
        assert.deepEqual(answer(await world.api(`GET ${list}?${name}=${number}`)), invalid(name));
      }
      for (const name of ['milestone_id', 'assignee_id', 'merge_request_to_resolve_discussions_of']) {
        for (const value of [number, Number(number)]) {
          assert.deepEqual(answer(await create({ title: 'x', [name]: value })), invalid(name));
        }
      }
      assert.deepEqual(
        answer(await world.api(`POST ${list}/1/move?to_project_id=${number}`)),
        invalid('to_project_id'),
      );
      assert.equal((await world.api(`GET /projects/${number}/issues`)).status, 404);
      assert.equal((await world.api(`GET /issues?sudo=${number}`)).status, 404);
    });
  }
  it('2^53 - 1 is well formed and absent', async () => {
    const largest = String(Number.MAX_SAFE_INTEGER);
    assert.equal((await world.api(`GET ${list}/${largest}`)).status, 404);
    assert.equal((await world.api(`POST ${list}/1/move?to_project_id=${largest}`)).status, 404);
    assert.deepEqual((await world.api(`GET ${list}?author_id=${largest}&iids[]=${largest}`)).body, []);
    assert.equal((await create({ title: 'x', milestone_id: largest, assignee_ids: [largest] })).status, 201);
  });
});

describe('Texts made to be slow are answered at once', () => {
  const rows: [string, string][] = [
    ['combining marks', `a${'\u0301\u0323'.repeat(500_000)}`],
    ['mentions', '@a '.repeat(300_000)],
    ['backticks', '`'.repeat(1_000_000)],
    ['references', '#1 '.repeat(300_000)],
    ['slashes', '/label ~a\n'.repeat(90_000)],
    ['closing words', 'Closes #1, '.repeat(90_000)],
    ['tasks', '- [ ] x\n'.repeat(120_000)],
  ];
  for (const [name, description] of rows) {
    it(name, async () => {
      const { status, body } = await create({ title: 'x', description });
      assert.equal(status, 201);
      const edit = await world.api(`PUT ${list}/${body.iid}`, {
        json: { description: `${description.slice(1)}y` },
      });
      assert.equal(edit.status, 200);
    });
  }
});

describe('Bodies of commits, 32 MiB', () => {
  const path = '/api/v4/projects/999999/repository/commits';
  const begun: ClientRequest[] = [];
  const statuses: number[] = [];
  after(() => begun.forEach((one) => one.destroy()));

  /** Sends the begin of a large body. */
  const begin = (token: string): void => {
    const headers = { ...json, 'private-token': token, 'content-length': 32 * mebi };
    const sent = request(`${world.url}${path}`, { method: 'POST', headers });
    begun.push(sent);
    sent.on('error', () => undefined);
    sent.on('response', ({ statusCode = 0 }) => void statuses.push(statusCode));
    sent.write('{');
  };

  it('of one user, two are read at once; others are not affected, and the end of one makes room', async () => {
    for (let sent = 0; sent < 6; sent += 1) begin(team.master.token);
    await until('all but two are refused', () => statuses.length === 4);
    assert.deepEqual(statuses, [429, 429, 429, 429]);
    const body = JSON.stringify({ padding: 'x'.repeat(2 * mebi) });
    const send = async (as: string): Promise<number> =>
      (await world.raw(`POST ${path}`, { as, headers: json, body })).status;
    // 400: it was read, and has no branch.
    assert.deepEqual([await send(team.master.token), await send(team.developer.token)], [429, 400]);
    begun.forEach((one) => one.destroy());
    await until('large bodies are read again', async () => (await send(team.master.token)) === 400);
  });
});
