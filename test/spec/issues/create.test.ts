/** API document: `POST /projects/:id/issues` and its body; behaviour book 2.5, 1.7, 1.11. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { seedGroup, seedUser } from '../../support/seed.ts';
import { rootToken } from '../../support/service.ts';
import { type Reply, type Team, type World, answer, startWorld } from '../world.ts';

let world: World;
let team: Team;
before(async () => {
  world = await startWorld();
  team = await world.team();
});
after(async () => await world.close());

const create = async (json: object, as?: string): Promise<Reply> =>
  await world.api(`POST /projects/${team.id}/issues`, { json, ...(as !== undefined && { as }) });

const count = async (): Promise<number> =>
  Number((await world.api(`GET /projects/${team.id}/issues?per_page=1`)).headers.get('x-total'));

describe('title (required)', () => {
  it('absent: 400 `"title" not given`', async () => {
    const missing = { message: '400 (Bad request) "title" not given' };
    assert.deepEqual(answer(await create({})), [400, missing]);
    assert.deepEqual(answer(await create({ description: 'x', confidential: 'foo' })), [400, missing]);
    assert.deepEqual(answer(await world.api(`POST /projects/${team.id}/issues`)), [400, missing]);
  });

  for (const title of ['', '   ', '\n\t', null]) {
    it(`${JSON.stringify(title)}: 400 can't be blank`, async () => {
      assert.deepEqual(answer(await create({ title })), [400, { message: { title: ["can't be blank"] } }]);
    });
  }

  it('255 characters are taken, 256 are too long; characters are code points', async () => {
    const tooLong = { message: { title: ['is too long (maximum is 255 characters)'] } };
    for (const letter of ['x', 'ß', '😀']) {
      const longest = letter.repeat(255);
      assert.equal((await create({ title: longest })).body.title, longest);
      assert.deepEqual(answer(await create({ title: `${longest}${letter}` })), [400, tooLong]);
    }
  });

  it('blanks at its ends are stripped, those within are kept', async () => {
    assert.equal((await create({ title: '  a  b\n' })).body.title, 'a  b');
  });

  it('a number is taken as its text; an array or an object is refused', async () => {
    assert.equal((await create({ title: 123 })).body.title, '123');
    for (const title of [['x'], { a: 'x' }]) {
      assert.deepEqual(answer(await create({ title })), [400, { message: { title: ['is invalid'] } }]);
    }
  });

  for (const title of ['<script>alert(1)</script>', "'; drop table issues; --", '日本語 🎉', 'null', '%00']) {
    it(`keeps ${title} as it is`, async () => assert.equal((await create({ title })).body.title, title));
  }

  it('a refused request creates nothing', async () => {
    const counted = await count();
    await create({ title: '' });
    await create({ title: 'x', due_date: 'never' });
    assert.equal(await count(), counted);
    const { iid } = (await create({ title: 'x' })).body;
    assert.equal((await create({ title: 'y' })).body.iid, iid + 1);
  });
});

describe('description', () => {
  it('null when absent or null, empty when empty', async () => {
    assert.equal((await create({ title: 'x' })).body.description, null);
    assert.equal((await create({ title: 'x', description: null })).body.description, null);
    assert.equal((await create({ title: 'x', description: '' })).body.description, '');
  });

  it('kept byte for byte', async () => {
    const description = '  # Head\r\n\r\n- [ ] one\t\n😀 ';
    assert.equal((await create({ title: 'x', description })).body.description, description);
  });
});

describe('confidential (default false)', () => {
  it('is false by default', async () =>
    assert.equal((await create({ title: 'x' })).body.confidential, false));
  for (const word of [true, 1, '1', 'on', 't', 'true', 'y', 'yes', 'TRUE', 'Yes']) {
    it(`${JSON.stringify(word)} is true`, async () =>
      assert.equal((await create({ title: 'x', confidential: word })).body.confidential, true));
  }
  for (const word of [false, 0, '0', 'off', 'f', 'false', 'n', 'no', 'False', '', null]) {
    it(`${JSON.stringify(word)} is false`, async () =>
      assert.equal((await create({ title: 'x', confidential: word })).body.confidential, false));
  }
  for (const word of ['foo', '2', 2, [true], {}]) {
    it(`${JSON.stringify(word)} is invalid`, async () =>
      assert.deepEqual(answer(await create({ title: 'x', confidential: word })), [
        400,
        { message: { confidential: ['is invalid'] } },
      ]));
  }
  it('a guest may create a confidential issue and sees it', async () => {
    const reply = await create({ title: 'x', confidential: true }, team.guest.token);
    assert.equal(reply.status, 201);
    const path = `/projects/${team.id}/issues/${reply.body.iid}`;
    assert.equal((await world.api(`GET ${path}`, { as: team.guest.token })).status, 200);
  });
});

describe('assignee_ids', () => {
  const assignees = async (json: object, as?: string): Promise<number[]> => {
    const reply = await create({ title: 'x', ...json }, as);
    assert.equal(reply.status, 201, reply.text);
    return reply.body.assignees.map(({ id }: { id: number }) => id);
  };

  it('keeps every id given, in the order given; assignee is the first', async () => {
    const { developer, guest, reporter } = team;
    const ids = [reporter.id, developer.id, guest.id];
    const { body } = await create({ title: 'x', assignee_ids: ids });
    assert.deepEqual(
      body.assignees.map(({ id }: { id: number }) => id),
      ids,
    );
    assert.equal(body.assignee.id, reporter.id);
  });

  it('an id given twice counts once', async () => {
    assert.deepEqual(await assignees({ assignee_ids: [team.guest.id, team.guest.id] }), [team.guest.id]);
  });

  for (const none of [[], [0], [''], '', null]) {
    it(`${JSON.stringify(none)} is none`, async () =>
      assert.deepEqual(await assignees({ assignee_ids: none }), []));
  }

  it('a user who does not exist is ignored', async () => {
    assert.deepEqual(await assignees({ assignee_ids: [999_999, team.guest.id, -1] }), [team.guest.id]);
  });

  it('a user who cannot read the issue, or is blocked, is ignored', async () => {
    const secret = await world.team({ visibility: 'private' });
    const blocked = await seedUser(world.gantry, { state: 'blocked' });
    const ids = [secret.stranger.id, blocked.id, secret.guest.id];
    const issue = await world.issue(secret.id, { assignee_ids: ids });
    assert.deepEqual(
      issue.assignees.map(({ id }: { id: number }) => id),
      [secret.guest.id],
    );
  });

  it('a user who can read a confidential issue only by the assignment can be assigned', async () => {
    assert.deepEqual(await assignees({ assignee_ids: [team.guest.id], confidential: true }), [team.guest.id]);
  });

  it('assignee_id replaces assignee_ids; 0 and null are none', async () => {
    const { guest, reporter } = team;
    assert.deepEqual(await assignees({ assignee_id: guest.id }), [guest.id]);
    assert.deepEqual(await assignees({ assignee_id: guest.id, assignee_ids: [reporter.id] }), [guest.id]);
    assert.deepEqual(await assignees({ assignee_id: 0, assignee_ids: [reporter.id] }), []);
    assert.deepEqual(await assignees({ assignee_id: null, assignee_ids: [reporter.id] }), []);
  });

  for (const bad of [['x'], [1, 'x'], { a: 1 }, [[1]], [{ id: 1 }], ['9007199254740992'], [1.5e300]]) {
    it(`${JSON.stringify(bad)} is invalid`, async () =>
      assert.deepEqual(answer(await create({ title: 'x', assignee_ids: bad })), [
        400,
        { message: { assignee_ids: ['is invalid'] } },
      ]));
  }
});

describe('milestone_id', () => {
  it('of the project, or of its group', async () => {
    const group = await seedGroup(world.gantry);
    const project = await world.project({ namespace: group.id });
    const own = await world.milestone(project.id);
    const shared = await world.milestone({ group: group.id });
    assert.equal((await world.issue(project.id, { milestone_id: own.id })).milestone.id, own.id);
    const { milestone } = await world.issue(project.id, { milestone_id: shared.id });
    assert.deepEqual(
      [milestone.id, milestone.group_id, 'project_id' in milestone],
      [shared.id, group.id, false],
    );
  });

  it('of another project, unknown, 0, empty or null: silently null', async () => {
    const foreign = await world.milestone((await world.project()).id);
    for (const milestone_id of [foreign.id, 999_999, 0, '', null, -1]) {
      const { status, body } = await create({ title: 'x', milestone_id });
      assert.deepEqual([status, body.milestone], [201, null], String(milestone_id));
    }
  });

  it('abc is invalid', async () =>
    assert.deepEqual(answer(await create({ title: 'x', milestone_id: 'abc' })), [
      400,
      { message: { milestone_id: ['is invalid'] } },
    ]));
});

describe('labels', () => {
  const labels = async (titles: unknown, as?: string): Promise<string[]> =>
    (await create({ title: 'x', labels: titles }, as)).body.labels;

  it('comma-separated names, trimmed, empty parts skipped, each once', async () => {
    assert.deepEqual(await labels(' b , a,,b, '), ['a', 'b']);
  });
  it('an array of names', async () => assert.deepEqual(await labels(['b', 'a']), ['a', 'b']));
  it('an array whose parts have commas', async () =>
    assert.deepEqual(await labels(['b,c', 'a']), ['a', 'b', 'c']));
  for (const none of ['', ',', [], null, ['']]) {
    it(`${JSON.stringify(none)} is none`, async () => {
      const reply = await create({ title: 'x', labels: none });
      assert.deepEqual([reply.status, reply.body.labels], [201, []]);
    });
  }
  it('label?, label&foo, ?, &, label:foo are names', async () => {
    const odd = ['&', '?', 'label&foo', 'label:foo', 'label?'];
    assert.deepEqual(await labels(odd.join(',')), odd);
  });

  it('unknown names are created as labels of the project, of color #428BCA', async () => {
    await labels('made just now');
    const reply = await world.api(`GET /projects/${team.id}/labels?per_page=100`);
    const made = reply.body.find(({ name }: { name: string }) => name === 'made just now');
    assert.equal(made.color, '#428BCA');
    const events = await world.events('Label', made.id);
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['label.created'],
    );
  });

  it('group labels match by title, and no project label is created', async () => {
    const group = await seedGroup(world.gantry);
    const project = await world.project({ namespace: group.id });
    await world.label({ group: group.id }, 'of group');
    assert.deepEqual((await world.issue(project.id, { labels: 'of group' })).labels, ['of group']);
    const { db } = world.gantry.service.platform.store;
    assert.deepEqual(
      await db.selectFrom('labels').select('id').where('project_id', '=', project.id).execute(),
      [],
    );
  });

  it('titles are compared with their case', async () => {
    assert.deepEqual(await labels('Case,case'), ['Case', 'case']);
  });

  it('255 characters are taken, longer ones silently not created', async () => {
    const longest = 'l'.repeat(255);
    assert.deepEqual(await labels([longest, `${longest}l`, 'kept']), ['kept', longest]);
  });

  it('100 labels are taken, 101 are refused', async () => {
    const many = Array.from({ length: 101 }, (_, n) => `many-${n}`);
    assert.equal((await labels(many.slice(1))).length, 100);
    for (const titles of [many, many.join(',')]) {
      assert.deepEqual(answer(await create({ title: 'x', labels: titles })), [
        400,
        { message: { labels: ['is too long (maximum is 100 values)'] } },
      ]);
    }
  });

  for (const bad of [{ a: 'b' }, [['a']], [{ name: 'a' }]]) {
    it(`${JSON.stringify(bad)} is invalid`, async () =>
      assert.deepEqual(answer(await create({ title: 'x', labels: bad })), [
        400,
        { message: { labels: ['is invalid'] } },
      ]));
  }
});

describe('due_date (YEAR-MONTH-DAY)', () => {
  it('is kept', async () =>
    assert.equal((await create({ title: 'x', due_date: '2026-02-28' })).body.due_date, '2026-02-28'));
  for (const none of ['', null]) {
    it(`${JSON.stringify(none)} is none`, async () =>
      assert.equal((await create({ title: 'x', due_date: none })).body.due_date, null));
  }
  for (const bad of [
    'tomorrow',
    '2026-02-30',
    '2026-2-3',
    '28.02.2026',
    '2026-02-28T25:00:00Z',
    '0000-01-01',
    20260228,
    [],
  ]) {
    it(`${JSON.stringify(bad)} is invalid`, async () =>
      assert.deepEqual(answer(await create({ title: 'x', due_date: bad })), [
        400,
        { message: { due_date: ['is invalid'] } },
      ]));
  }
});

describe('created_at (ISO 8601; requires admin or project owner rights)', () => {
  const createdAt = '2017-05-06T07:08:09.123Z';
  for (const [who, taken] of [
    ['root', true],
    ['owner', true],
    ['master', false],
    ['developer', false],
    ['guest', false],
  ] as const) {
    it(`${who}: ${taken ? 'taken' : 'silently ignored'}`, async () => {
      const as = who === 'root' ? undefined : team[who].token;
      const reply = await create({ title: 'x', created_at: createdAt }, as);
      assert.equal(reply.status, 201);
      assert.equal(reply.body.created_at === createdAt, taken);
    });
  }
  it('the owner of a personal project and the owner of a group may set it', async () => {
    const user = await seedUser(world.gantry);
    const group = await seedGroup(world.gantry, { owner: user.id });
    for (const project of [
      await world.project({ owner: user.id }),
      await world.project({ namespace: group.id }),
    ]) {
      assert.equal(
        (await world.issue(project.id, { created_at: createdAt }, user.token)).created_at,
        createdAt,
      );
    }
  });
  it('updated_at is the time of the call', async () => {
    const { created_at, updated_at } = (await create({ title: 'x', created_at: createdAt })).body;
    assert.ok(updated_at > created_at);
  });
  for (const [text, expected] of [
    ['2017-05-06T09:08:09.123+02:00', createdAt],
    ['2017-05-06', '2017-05-06T00:00:00.000Z'],
    ['2017-05-06T07:08:09.123456Z', createdAt],
    ['Sat, 06 May 2017 07:08:09 GMT', '2017-05-06T07:08:09.000Z'],
  ]) {
    it(`${text} is ${expected}`, async () =>
      assert.equal((await create({ title: 'x', created_at: text })).body.created_at, expected));
  }
  for (const bad of ['never', '2017-13-01', '1899-12-31', '10000-01-01', '+275760-09-13', 1e15]) {
    it(`${bad} is invalid`, async () =>
      assert.deepEqual(answer(await create({ title: 'x', created_at: bad })), [
        400,
        { message: { created_at: ['is invalid'] } },
      ]));
  }
});

describe('merge_request_to_resolve_discussions_of and discussion_to_resolve', () => {
  it('a merge request that is not there is ignored', async () => {
    const reply = await create({
      title: 'x',
      merge_request_to_resolve_discussions_of: 5,
      discussion_to_resolve: 'abc',
    });
    assert.deepEqual([reply.status, reply.body.description], [201, null]);
  });
  it('its iid has to be an integer', async () =>
    assert.deepEqual(answer(await create({ title: 'x', merge_request_to_resolve_discussions_of: 'abc' })), [
      400,
      { message: { merge_request_to_resolve_discussions_of: ['is invalid'] } },
    ]));
});

describe('who may create, and what', () => {
  const full = async (as: string) => {
    const milestone = await world.milestone(team.id);
    const json = {
      title: 'x',
      labels: 'a',
      milestone_id: milestone.id,
      assignee_ids: [1],
      due_date: '2026-01-01',
    };
    return await create({ ...json, description: 'd', confidential: true }, as);
  };

  for (const role of ['reporter', 'developer', 'master', 'owner'] as const) {
    it(`${role}: everything`, async () => {
      const { status, body } = await full(team[role].token);
      assert.equal(status, 201);
      const set = [body.labels.length, body.milestone !== null, body.assignees.length, body.due_date];
      assert.deepEqual(set, [1, true, 1, '2026-01-01']);
    });
  }

  for (const role of ['guest', 'stranger'] as const) {
    it(`${role}: milestone, labels, assignees and due_date are silently dropped, the rest is kept`, async () => {
      const { status, body } = await full(team[role].token);
      assert.equal(status, 201);
      assert.deepEqual([body.labels, body.milestone, body.assignees, body.due_date], [[], null, [], null]);
      assert.deepEqual([body.title, body.description, body.confidential], ['x', 'd', true]);
    });
  }

  it('a guest creates no labels by naming them', async () => {
    await create({ title: 'x', labels: 'never made' }, team.guest.token);
    const { db } = world.gantry.service.platform.store;
    assert.equal(
      (await db.selectFrom('labels').select('id').where('title', '=', 'never made').execute()).length,
      0,
    );
  });

  it('issues disabled: 403; for members only: 403 for others', async () => {
    const off = await world.project({ issues_access_level: 'disabled' });
    assert.deepEqual(answer(await world.api(`POST /projects/${off.id}/issues?title=x`)), [
      403,
      { message: '403 Forbidden' },
    ]);
    const closed = await world.team({ issues_access_level: 'private' });
    const line = `POST /projects/${closed.id}/issues?title=x`;
    assert.equal((await world.api(line, { as: closed.stranger.token })).status, 403);
    assert.equal((await world.api(line, { as: closed.guest.token })).status, 201);
  });

  it('an archived project takes issues', async () => {
    const archived = await world.project({ archived: 1 });
    assert.equal((await world.api(`POST /projects/${archived.id}/issues?title=x`)).status, 201);
  });

  it('order of refusals: 401, 400 for a parameter, 404, 403, then the rules', async () => {
    const off = await world.project({ issues_access_level: 'disabled' });
    const at = (id: number | string, query: string) => `POST /projects/${id}/issues?${query}`;
    assert.equal((await world.api(at(999_999, 'confidential=foo'), { as: null })).status, 401);
    assert.equal((await world.api(at(999_999, 'title=x&confidential=foo'))).status, 400);
    assert.equal((await world.api(at(999_999, 'title=%20'))).status, 404);
    assert.equal((await world.api(at(off.id, 'title=%20'))).status, 403);
    assert.equal((await world.api(at(team.id, 'title=%20'))).status, 400);
  });
});

describe('consequences of a new issue', () => {
  it('iid = highest iid ever in the project + 1, deleted ones included', async () => {
    const project = await world.project();
    for (const iid of [1, 2, 3]) assert.equal((await world.issue(project.id)).iid, iid);
    await world.api(`DELETE /projects/${project.id}/issues/3`);
    assert.equal((await world.issue(project.id)).iid, 4);
  });

  it('server fields are in no body', async () => {
    const odd = {
      id: 5,
      iid: 77,
      project_id: 1,
      author_id: team.guest.id,
      state: 'closed',
      upvotes: 9,
      deleted_at: 1,
    };
    const { body } = await create({
      title: 'x',
      ...odd,
      updated_at: '2001-01-01',
      user_notes_count: 3,
      web_url: 'x',
    });
    assert.notEqual(body.iid, 77);
    assert.deepEqual([body.project_id, body.author.id, body.state, body.upvotes], [team.id, 1, 'opened', 0]);
    assert.ok(body.updated_at > '2002');
    assert.equal(body.user_notes_count, 0);
  });

  it('its creator is subscribed', async () => {
    assert.equal((await create({ title: 'x' }, team.guest.token)).body.subscribed, true);
  });

  it('one event, and no system note', async () => {
    const { id, iid } = (await create({ title: 'x', labels: 'a', assignee_ids: [team.guest.id] })).body;
    assert.deepEqual(await world.events('Issue', id), [
      { kind: 'issue.created', data: { iid, title: 'x' }, actor_id: 1 },
    ]);
    assert.deepEqual(await world.systemNotes(id), []);
  });

  it('assignees and mentioned users get todos, the author does not', async () => {
    const { guest, reporter, developer, stranger } = team;
    const description = `@${reporter.username} look\nwith @${developer.username}, @root and @nobody-here`;
    const { id } = (await create({ title: 'Ask', description, assignee_ids: [guest.id, 1] })).body;
    const todos = (await world.todos(id)).toSorted((a, b) => a.user_id - b.user_id);
    const todo = (user_id: number, action: string) => ({ user_id, action, state: 'pending', body: 'Ask' });
    const expected = [
      todo(guest.id, 'assigned'),
      todo(reporter.id, 'directly_addressed'),
      todo(developer.id, 'mentioned'),
    ];
    assert.deepEqual(
      todos,
      expected.toSorted((a, b) => a.user_id - b.user_id),
    );
    assert.ok(!todos.some(({ user_id }) => user_id === stranger.id));
  });

  it('an assigned and mentioned user gets one todo', async () => {
    const { guest } = team;
    const { id } = (await create({ title: 'x', description: `@${guest.username}`, assignee_ids: [guest.id] }))
      .body;
    assert.deepEqual(
      (await world.todos(id)).map(({ action }) => action),
      ['assigned'],
    );
  });

  it('a mentioned user who cannot read the issue gets no todo', async () => {
    const { stranger, guest } = team;
    const description = `@${stranger.username} @${guest.username}`;
    const { id } = (await create({ title: 'x', description, confidential: true })).body;
    assert.deepEqual(await world.todos(id), []);
  });

  it('an e-mail address and code mention nobody', async () => {
    const { guest } = team;
    const { id } = (await create({ title: 'x', description: `a@${guest.username} \`@${guest.username}\`` }))
      .body;
    assert.deepEqual(await world.todos(id), []);
  });

  it('user agent and IP whenever the request has a User-Agent', async () => {
    const post = (headers: Record<string, string>) =>
      new Promise<number>((resolve, reject) => {
        const url = `${world.url}/api/v4/projects/${team.id}/issues?title=x`;
        const sent = request(
          url,
          { method: 'POST', headers: { 'private-token': rootToken, ...headers } },
          (answered) => {
            let text = '';
            answered.on('data', (part: Buffer) => (text += part.toString()));
            answered.on('end', () => resolve((JSON.parse(text) as { iid: number }).iid));
          },
        );
        sent.on('error', reject);
        sent.end();
      });
    const detail = async (iid: number) =>
      await world.api(`GET /projects/${team.id}/issues/${iid}/user_agent_detail`);
    assert.equal((await detail(await post({ 'user-agent': 'curl/8' }))).body.user_agent, 'curl/8');
    assert.deepEqual(answer(await detail(await post({}))), [
      404,
      { message: '404 UserAgentDetail Not Found' },
    ]);
  });
});

describe('the answer', () => {
  it('is what a request for the issue then shows, also after a rename of what it embeds', async () => {
    const { body: milestone } = await world.api(`POST /projects/${team.id}/milestones`, {
      json: { title: 'first' },
    });
    const fields = {
      title: 'Whole',
      description: '- [x] done',
      labels: 'b,a',
      assignee_ids: [team.guest.id, team.reporter.id],
      milestone_id: milestone.id,
      due_date: '2030-01-01',
    };
    for (const name of ['second', 'third']) {
      await world.api(`PUT /projects/${team.id}/milestones/${milestone.id}`, { json: { title: name } });
      await world.api(`PUT /users/${team.guest.id}`, { json: { name } });
      const { body } = await create(fields);
      assert.deepEqual([body.milestone.title, body.assignees[0].name], [name, name]);
      assert.deepEqual((await world.api(`GET /projects/${team.id}/issues/${body.iid}`)).body, body);
    }
  });
});
