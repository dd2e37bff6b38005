/** API document: `PUT /projects/:id/issues/:issue_iid` and its body; behaviour book 2.6, 1.7, 1.11. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedGroup } from '../../support/seed.ts';
import { type Issue, type Reply, type Team, type World, answer, startWorld } from '../world.ts';

let world: World;
let team: Team;
before(async () => {
  world = await startWorld();
  team = await world.team();
});
after(async () => await world.close());

const pathOf = ({ project_id, iid }: Issue): string => `/projects/${project_id}/issues/${iid}`;

const put = async (issue: Issue, json: object, as?: string): Promise<Reply> =>
  await world.api(`PUT ${pathOf(issue)}`, { json, ...(as !== undefined && { as }) });

const edited = async (fields: object, json: object): Promise<Issue> => {
  const reply = await put(await world.issue(team.id, fields), json);
  assert.equal(reply.status, 200, reply.text);
  return reply.body;
};

const idsOf = ({ assignees }: Issue): number[] => assignees.map(({ id }: { id: number }) => id);

const atLeastOne = {
  message:
    '400 (Bad request) at least one of title, description, assignee_ids, assignee_id, milestone_id, labels, ' +
    'add_labels, remove_labels, due_date, confidential, discussion_locked, state_event, updated_at must be given',
};

describe('at least one of the optional attributes', () => {
  it('none at all: 400', async () => {
    const issue = await world.issue(team.id);
    assert.deepEqual(answer(await put(issue, {})), [400, atLeastOne]);
    assert.deepEqual(answer(await put(issue, { unknown: 1, id: 5 })), [400, atLeastOne]);
  });
  it('created_at alone does not count', async () => {
    const issue = await world.issue(team.id);
    assert.deepEqual(answer(await put(issue, { created_at: '2017-01-01T00:00:00Z' })), [400, atLeastOne]);
  });
  it('is checked before 404 and 403', async () => {
    assert.equal((await world.api('PUT /projects/999999/issues/1')).status, 400);
  });
  it('is checked after 401', async () => {
    assert.equal((await world.api('PUT /projects/999999/issues/1', { as: null })).status, 401);
  });
});

describe('title', () => {
  it('is replaced', async () => assert.equal((await edited({}, { title: ' New ' })).title, 'New'));
  for (const title of ['', '  ', null]) {
    it(`${JSON.stringify(title)}: can't be blank, nothing applied`, async () => {
      const issue = await world.issue(team.id);
      const reply = await put(issue, { title, state_event: 'close', labels: 'a' });
      assert.deepEqual(answer(reply), [400, { message: { title: ["can't be blank"] } }]);
      assert.deepEqual((await world.api(`GET ${pathOf(issue)}`)).body, issue);
    });
  }
  it('a title of 256 characters is too long', async () => {
    const reply = await put(await world.issue(team.id), { title: 'x'.repeat(256) });
    assert.deepEqual(answer(reply), [
      400,
      { message: { title: ['is too long (maximum is 255 characters)'] } },
    ]);
  });
});

describe('description', () => {
  it('is replaced; empty empties, null clears, absent stays', async () => {
    const fields = { description: 'before' };
    assert.equal((await edited(fields, { description: 'after' })).description, 'after');
    assert.equal((await edited(fields, { description: '' })).description, '');
    assert.equal((await edited(fields, { description: null })).description, null);
    assert.equal((await edited(fields, { title: 'x' })).description, 'before');
  });
});

describe('confidential', () => {
  it('is set and taken back', async () => {
    assert.equal((await edited({}, { confidential: true })).confidential, true);
    assert.equal((await edited({ confidential: true }, { confidential: 'false' })).confidential, false);
    assert.equal((await edited({ confidential: true }, { title: 'x' })).confidential, true);
  });
  it('foo is invalid', async () =>
    assert.deepEqual(answer(await put(await world.issue(team.id), { confidential: 'foo' })), [
      400,
      { message: { confidential: ['is invalid'] } },
    ]));
});

describe('assignee_ids', () => {
  const rows = (): [string, object, number[]][] => {
    const { guest, reporter, developer } = team;
    return [
      ['replaces all', { assignee_ids: [developer.id, reporter.id] }, [developer.id, reporter.id]],
      ['[0] clears', { assignee_ids: [0] }, []],
      ['[] clears', { assignee_ids: [] }, []],
      ['the empty text clears', { assignee_ids: '' }, []],
      ['unknown ids only: unchanged', { assignee_ids: [999_999] }, [guest.id]],
      ['an unknown id among others is ignored', { assignee_ids: [999_999, reporter.id] }, [reporter.id]],
      ['absent: unchanged', { title: 'x' }, [guest.id]],
      ['assignee_id replaces assignee_ids', { assignee_id: reporter.id, assignee_ids: [1] }, [reporter.id]],
      ['assignee_id 0 clears', { assignee_id: 0 }, []],
      ['assignee_id empty clears', { assignee_id: '' }, []],
      ['the order given is kept', { assignee_ids: [reporter.id, guest.id] }, [reporter.id, guest.id]],
    ];
  };
  for (const index of Array.from({ length: 11 }, (_, n) => n)) {
    it(`row ${index + 1} of its table`, async () => {
      const [name, json, expected] = rows()[index]!;
      assert.deepEqual(idsOf(await edited({ assignee_ids: [team.guest.id] }, json)), expected, name);
    });
  }
});

describe('milestone_id', () => {
  it('is set; 0, empty, null, unknown and foreign clear; absent stays', async () => {
    const [own, foreign] = [
      await world.milestone(team.id),
      await world.milestone((await world.project()).id),
    ];
    assert.equal((await edited({}, { milestone_id: own.id })).milestone.id, own.id);
    for (const milestone_id of [0, '', null, 999_999, foreign.id]) {
      assert.equal(
        (await edited({ milestone_id: own.id }, { milestone_id })).milestone,
        null,
        String(milestone_id),
      );
    }
    assert.equal((await edited({ milestone_id: own.id }, { title: 'x' })).milestone.id, own.id);
  });
});

describe('labels', () => {
  const rows: [string, object, string[]][] = [
    ['full replacement', { labels: 'c,b' }, ['b', 'c']],
    ['an array', { labels: ['c'] }, ['c']],
    ['the empty text clears all', { labels: '' }, []],
    ['an empty array clears all', { labels: [] }, []],
    ['absent is unchanged', { title: 'x' }, ['a', 'b']],
    ['null is unchanged', { title: 'x', labels: null }, ['a', 'b']],
    ['null alone is something given, and unchanged', { labels: null }, ['a', 'b']],
    ['add_labels adds', { add_labels: 'c,a' }, ['a', 'b', 'c']],
    ['remove_labels removes', { remove_labels: 'a,z' }, ['b']],
    ['both', { add_labels: 'c', remove_labels: 'a' }, ['b', 'c']],
  ];
  for (const [name, json, expected] of rows) {
    it(name, async () => assert.deepEqual((await edited({ labels: 'a,b' }, json)).labels, expected));
  }
  it('labels= of a form clears all', async () => {
    const issue = await world.issue(team.id, { labels: 'a' });
    assert.deepEqual((await world.api(`PUT ${pathOf(issue)}`, { form: 'labels=' })).body.labels, []);
    const other = await world.issue(team.id, { labels: 'a' });
    assert.deepEqual((await world.api(`PUT ${pathOf(other)}?labels`)).body.labels, []);
  });
  it('unknown names are created', async () => {
    assert.deepEqual((await edited({}, { labels: 'made by edit' })).labels, ['made by edit']);
  });
});

describe('due_date', () => {
  it('is set; empty and null clear; absent stays', async () => {
    const fields = { due_date: '2026-01-01' };
    assert.equal((await edited(fields, { due_date: '2027-01-01' })).due_date, '2027-01-01');
    assert.equal((await edited(fields, { due_date: '' })).due_date, null);
    assert.equal((await edited(fields, { due_date: null })).due_date, null);
    assert.equal((await edited(fields, { title: 'x' })).due_date, '2026-01-01');
  });
  it('a bad one is refused', async () =>
    assert.deepEqual(answer(await put(await world.issue(team.id), { due_date: '2026-02-30' })), [
      400,
      { message: { due_date: ['is invalid'] } },
    ]));
});

describe('updated_at (requires admin or project owner rights)', () => {
  const updatedAt = '2017-05-06T07:08:09.123Z';
  for (const [who, taken] of [
    ['root', true],
    ['owner', true],
    ['master', false],
    ['reporter', false],
  ] as const) {
    it(`${who}: ${taken ? 'wins over the bump' : 'silently ignored'}`, async () => {
      const as = who === 'root' ? undefined : team[who].token;
      const reply = await put(await world.issue(team.id), { title: 'other', updated_at: updatedAt }, as);
      assert.equal(reply.status, 200);
      assert.equal(reply.body.updated_at === updatedAt, taken);
      assert.equal((await world.api(`GET ${pathOf(reply.body)}`)).body.updated_at, reply.body.updated_at);
    });
  }
  for (const who of ['root', 'owner'] as const) {
    it(`${who}: it is enough`, async () => {
      const issue = await world.issue(team.id);
      const as = who === 'root' ? undefined : team[who].token;
      const expected = { ...issue, updated_at: updatedAt };
      assert.deepEqual(answer(await put(issue, { updated_at: updatedAt }, as)), [
        200,
        { ...expected, subscribed: as === undefined },
      ]);
      assert.deepEqual((await world.api(`GET ${pathOf(issue)}`)).body, expected);
    });
  }
  for (const role of ['master', 'reporter'] as const) {
    it(`${role}: alone it changes nothing`, async () => {
      const issue = await world.issue(team.id);
      assert.equal((await put(issue, { updated_at: updatedAt }, team[role].token)).status, 200);
      assert.deepEqual((await world.api(`GET ${pathOf(issue)}`)).body, issue);
    });
  }
  it('stranger: 403', async () =>
    assert.deepEqual(
      answer(await put(await world.issue(team.id), { updated_at: updatedAt }, team.stranger.token)),
      [403, { message: '403 Forbidden' }],
    ));
  it('counts beside an attribute that changes nothing', async () => {
    assert.equal(
      (await edited({ title: 'Same' }, { title: 'Same', updated_at: updatedAt })).updated_at,
      updatedAt,
    );
  });
  it('never is invalid', async () =>
    assert.deepEqual(answer(await put(await world.issue(team.id), { title: 'x', updated_at: 'never' })), [
      400,
      { message: { updated_at: ['is invalid'] } },
    ]));
});

describe('who may edit what (behaviour book 1.7)', () => {
  const everything = async () => ({
    title: 'New',
    description: 'New',
    confidential: true,
    state_event: 'close',
    labels: 'z',
    assignee_ids: [1],
    due_date: '2030-01-01',
    milestone_id: (await world.milestone(team.id)).id,
  });

  for (const role of ['reporter', 'developer', 'master', 'owner'] as const) {
    it(`${role}: everything of anybody's`, async () => {
      const { status, body } = await put(await world.issue(team.id), await everything(), team[role].token);
      assert.equal(status, 200);
      const set = [body.title, body.state, body.labels, idsOf(body), body.due_date, body.milestone !== null];
      assert.deepEqual(set, ['New', 'closed', ['z'], [1], '2030-01-01', true]);
    });
  }

  for (const role of ['guest', 'stranger'] as const) {
    it(`${role}: 403 on anybody else's, nothing applied`, async () => {
      const issue = await world.issue(team.id);
      assert.deepEqual(answer(await put(issue, await everything(), team[role].token)), [
        403,
        { message: '403 Forbidden' },
      ]);
      assert.deepEqual((await world.api(`GET ${pathOf(issue)}`)).body, issue);
    });

    it(`${role} as the author: title, description, confidential and state; the rest is silently dropped`, async () => {
      const issue = await world.issue(team.id, {}, team[role].token);
      const { status, body } = await put(issue, await everything(), team[role].token);
      assert.equal(status, 200);
      assert.deepEqual(
        [body.title, body.description, body.confidential, body.state],
        ['New', 'New', true, 'closed'],
      );
      assert.deepEqual([body.labels, body.assignees, body.due_date, body.milestone], [[], [], null, null]);
    });
  }

  it('an assignee may edit as the author may', async () => {
    const issue = await world.issue(team.id, { assignee_ids: [team.guest.id], labels: 'kept' });
    const { status, body } = await put(issue, { title: 'By assignee', labels: 'z' }, team.guest.token);
    assert.deepEqual([status, body.title, body.labels], [200, 'By assignee', ['kept']]);
  });

  it('labels alone from a user who may not set them: 200, unchanged', async () => {
    const issue = await world.issue(team.id, {}, team.guest.token);
    assert.deepEqual(answer(await put(issue, { labels: 'z' }, team.guest.token)), [200, issue]);
  });

  it('issues of an archived project are still editable', async () => {
    const archived = await world.project({ archived: 1 });
    assert.equal((await put(await world.issue(archived.id), { title: 'x' })).status, 200);
  });

  it('order: 404 project, 404 issue, 403, then the rules', async () => {
    const issue = await world.issue(team.id);
    const as = team.guest.token;
    const message = async (line: string) => (await world.api(line, { as })).body.message;
    assert.equal(await message('PUT /projects/999999/issues/1?title='), '404 Project Not Found');
    assert.equal(await message(`PUT /projects/${team.id}/issues/999999?title=`), '404 Not found');
    assert.equal(await message(`PUT ${pathOf(issue)}?title=`), '403 Forbidden');
  });
});

describe('updated_at follows every effective change (behaviour book 1.11)', () => {
  const bumps: [string, () => Promise<object> | object][] = [
    ['title', () => ({ title: 'other' })],
    ['description', () => ({ description: 'other' })],
    ['labels', () => ({ labels: 'other' })],
    ['assignees', () => ({ assignee_ids: [team.reporter.id] })],
    ['milestone', async () => ({ milestone_id: (await world.milestone(team.id)).id })],
    ['due_date', () => ({ due_date: '2031-01-01' })],
    ['confidential', () => ({ confidential: true })],
    ['state', () => ({ state_event: 'close' })],
  ];
  for (const [name, json] of bumps) {
    it(`${name}: later than before, and an event`, async () => {
      const issue = await world.issue(team.id);
      const { updated_at, created_at } = (await put(issue, await json())).body;
      assert.ok(updated_at > issue.updated_at);
      assert.equal(created_at, issue.created_at);
      const kinds = (await world.events('Issue', issue.id)).map(({ kind }) => kind);
      assert.deepEqual(kinds, ['issue.created', name === 'state' ? 'issue.closed' : 'issue.updated']);
    });
  }

  it('the same values again: nothing changes, no note, no event', async () => {
    const milestone = await world.milestone(team.id);
    const fields = {
      title: 'Same',
      description: 'Same',
      labels: 'a,b',
      assignee_ids: [team.guest.id],
      milestone_id: milestone.id,
      due_date: '2026-01-01',
      confidential: true,
    };
    const issue = await world.issue(team.id, fields);
    assert.deepEqual(answer(await put(issue, { ...fields, labels: 'b,a', state_event: 'reopen' })), [
      200,
      issue,
    ]);
    assert.deepEqual(await world.systemNotes(issue.id), []);
    assert.equal((await world.events('Issue', issue.id)).length, 1);
  });

  it('never goes back, even if the clock does', async () => {
    const issue = await world.issue(team.id);
    world.gantry.setTime(Date.parse(issue.updated_at) - 60_000);
    const one = (await put(issue, { title: 'one' })).body;
    const two = (await world.api(`POST ${pathOf(issue)}/time_estimate?duration=1h`)).status;
    const three = (await put(issue, { title: 'three' })).body;
    world.gantry.setTime(null);
    assert.equal(two, 201);
    assert.ok(one.updated_at > issue.updated_at);
    assert.ok(three.updated_at > one.updated_at);
  });

  it('an event records the values before and after', async () => {
    const issue = await world.issue(team.id, { title: 'Old', labels: 'a', description: 'long' });
    const json = { title: 'New', labels: 'b', assignee_ids: [1], confidential: true, description: 'longer' };
    await put(issue, json);
    const [, event] = await world.events('Issue', issue.id);
    assert.deepEqual(event?.data, {
      title: ['Old', 'New'],
      confidential: [0, 1],
      labels: [['a'], ['b']],
      assignee_ids: [[], [1]],
      description: true,
    });
  });
});

describe('system notes (exact texts)', () => {
  const notes = async (fields: object, ...edits: object[]): Promise<string[]> => {
    const issue = await world.issue(team.id, fields);
    for (const json of edits) assert.equal((await put(issue, json)).status, 200);
    return await world.systemNotes(issue.id);
  };

  it('close and reopen', async () =>
    assert.deepEqual(await notes({}, { state_event: 'close' }, { state_event: 'reopen' }), [
      'closed',
      'reopened',
    ]));
  it('title', async () =>
    assert.deepEqual(await notes({ title: 'Fix tpyo' }, { title: 'Fix typo' }), [
      'changed title from **Fix t{-py-}o** to **Fix t{+yp+}o**',
    ]));
  it('description', async () =>
    assert.deepEqual(await notes({ description: 'a' }, { description: 'b' }, { description: null }), [
      'changed the description',
      'changed the description',
    ]));
  it('a task', async () =>
    assert.deepEqual(
      await notes(
        { description: '- [ ] one\n- [ ] two' },
        { description: '- [ ] one\n- [x] two' },
        { description: '- [ ] one\n- [ ] two' },
      ),
      ['marked the task **two** as completed', 'marked the task **two** as incomplete'],
    ));
  it('assignees', async () => {
    const { guest, reporter } = team;
    const [a, b] = [guest.username, reporter.username];
    assert.deepEqual(
      await notes({}, { assignee_ids: [guest.id] }, { assignee_ids: [reporter.id] }, { assignee_ids: [] }),
      [`assigned to @${a}`, `assigned to @${b} and unassigned @${a}`, 'removed assignee'],
    );
    assert.deepEqual(await notes({}, { assignee_ids: [guest.id, reporter.id] }), [
      `assigned to @${a} and @${b}`,
    ]);
  });
  it('labels, by id', async () => {
    const id = async (title: string): Promise<number> => await world.label(team.id, title);
    const [one, two] = [await id('note one'), await id('note two')];
    const edits = [{ labels: 'note one,note two' }, { labels: 'note two' }, { labels: 'note one' }];
    assert.deepEqual(await notes({}, ...edits), [
      `added ~${one} ~${two} labels`,
      `removed ~${one} label`,
      `added ~${one} and removed ~${two} labels`,
    ]);
  });
  it('milestone, by iid', async () => {
    const { id, iid } = await world.milestone(team.id);
    assert.deepEqual(await notes({}, { milestone_id: id }, { milestone_id: 0 }), [
      `changed milestone to %${iid}`,
      'removed milestone',
    ]);
  });
  it('confidential', async () =>
    assert.deepEqual(await notes({}, { confidential: true }, { confidential: false }), [
      'made the issue confidential',
      'made the issue visible to everyone',
    ]));
  it('the due date is not noted', async () =>
    assert.deepEqual(await notes({}, { due_date: '2026-01-01' }), []));
  it('several at once: state first', async () =>
    assert.deepEqual(await notes({ title: 'ab' }, { title: 'a', confidential: true, state_event: 'close' }), [
      'closed',
      'changed title from **a{-b-}** to **a**',
      'made the issue confidential',
    ]));
  it('their author is the actor, and user_notes_count does not count them', async () => {
    const issue = await world.issue(team.id);
    const { body } = await put(issue, { title: 'x' }, team.reporter.token);
    assert.equal(body.user_notes_count, 0);
    const { db } = world.gantry.service.platform.store;
    const rows = await db
      .selectFrom('notes')
      .select(['author_id', 'system'])
      .where('target_id', '=', issue.id)
      .execute();
    assert.deepEqual(
      rows.map(({ author_id, system }) => [author_id, system]),
      [[team.reporter.id, 1]],
    );
  });
});

describe('todos of an edit', () => {
  it('users who are newly assigned and newly mentioned get one each', async () => {
    const { guest, reporter } = team;
    const issue = await world.issue(team.id, { description: `@${guest.username}` });
    await put(issue, { assignee_ids: [reporter.id] });
    assert.deepEqual(
      (await world.todos(issue.id)).map(({ user_id, action }) => [user_id, action]),
      [
        [guest.id, 'directly_addressed'],
        [reporter.id, 'assigned'],
      ],
    );
  });

  it('a user who was mentioned before gets none for an edit of the text', async () => {
    const { guest, developer } = team;
    const issue = await world.issue(team.id, { description: `cc @${guest.username}` });
    await world.gantry.service.platform.store.write(async (tx) => {
      await tx.db.updateTable('todos').set({ state: 'done' }).where('target_id', '=', issue.id).execute();
    });
    await put(issue, { description: `cc @${guest.username} and @${developer.username}` });
    const pending = (await world.todos(issue.id)).filter(({ state }) => state === 'pending');
    assert.deepEqual(
      pending.map(({ user_id, action }) => [user_id, action]),
      [[developer.id, 'mentioned']],
    );
  });

  const finishing: [string, object, string][] = [
    ['title', { title: 'x' }, 'done'],
    ['description', { description: 'x' }, 'done'],
    ['assignees', { assignee_ids: [1] }, 'done'],
    ['labels', { labels: 'x' }, 'done'],
    ['close', { state_event: 'close' }, 'done'],
    ['due_date', { due_date: '2026-01-01' }, 'pending'],
    ['confidential', { confidential: true }, 'pending'],
    ['what changes nothing', { state_event: 'reopen' }, 'pending'],
  ];
  for (const [name, json, state] of finishing) {
    it(`the editor's own pending todo after an edit of ${name}: ${state}`, async () => {
      const { reporter, developer } = team;
      const issue = await world.issue(team.id, { assignee_ids: [reporter.id, developer.id] });
      const own = { ...json, ...('assignee_ids' in json && { assignee_ids: [reporter.id] }) };
      await put(issue, own, reporter.token);
      const states = (await world.todos(issue.id)).map((todo) => [todo.user_id, todo.state]);
      assert.deepEqual(states, [
        [reporter.id, state],
        [developer.id, 'pending'],
      ]);
    });
  }

  it('a new milestone is one of these, reopening is none', async () => {
    const { reporter } = team;
    const issue = await world.issue(team.id);
    await put(issue, { state_event: 'close' });
    await world.api(`POST ${pathOf(issue)}/todo`, { as: reporter.token });
    await put(issue, { state_event: 'reopen' }, reporter.token);
    assert.equal((await world.todos(issue.id))[0]?.state, 'pending');
    await put(issue, { milestone_id: (await world.milestone(team.id)).id }, reporter.token);
    assert.equal((await world.todos(issue.id))[0]?.state, 'done');
  });
});

it('server fields are in no body (mass assignment)', async () => {
  const issue = await world.issue(team.id);
  const odd = { iid: 99, project_id: 1, author_id: team.guest.id, state: 'closed', created_at: '2001-01-01' };
  const { body } = await put(issue, { title: 'An issue', ...odd, deleted_at: 1, upvotes: 5, moved_to_id: 3 });
  assert.deepEqual(body, issue);
});

it('an issue of a group project may carry the group’s labels', async () => {
  const group = await seedGroup(world.gantry);
  const project = await world.project({ namespace: group.id });
  await world.label({ group: group.id }, 'shared');
  const { body } = await put(await world.issue(project.id), { labels: 'shared' });
  assert.deepEqual(body.labels, ['shared']);
});
