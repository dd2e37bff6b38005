/** API document: `GET /issues`, `GET /groups/:id/issues`, `GET /projects/:id/issues`; behaviour book 2.1-2.3. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type SeededUser, seedGroup, seedIssue, seedMember, seedUser } from '../../support/seed.ts';
import { type Reply, type Team, type World, answer, sortedIids, startWorld } from '../world.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(async () => await world.close());

const ids = ({ status, body, text }: Reply): number[] => {
  assert.equal(status, 200, text);
  return (body as { id: number }[]).map(({ id }) => id).toSorted((a, b) => a - b);
};

describe('GET /issues', () => {
  it('issues the caller created, by default', async () => {
    const [one, other] = [await world.team(), await world.team()];
    const { token } = one.stranger;
    const own = [await world.issue(one.id, {}, token), await world.issue(other.id, {}, token)];
    await world.issue(one.id, { assignee_ids: [one.stranger.id] });
    assert.deepEqual(
      ids(await world.api('GET /issues', { as: token })),
      own.map(({ id }) => id),
    );
  });

  describe('issues the caller has access to, with scope=all', () => {
    const seen: Record<string, number> = {};
    let people: Record<string, SeededUser>;
    let member: Team;
    before(async () => {
      const external = await seedUser(world.gantry, { external: 1 });
      const stranger = await seedUser(world.gantry);
      member = await world.team({ visibility: 'private' });
      people = { external, stranger, guest: member.guest, reporter: member.reporter };
      const at = async (attributes: Parameters<World['project']>[0]) => (await world.project(attributes)).id;
      const issue = async (project: number, fields = {}) =>
        (await seedIssue(world.gantry, { project, ...fields })).id;
      seen['public'] = await issue(await at({ visibility: 'public' }));
      seen['internal'] = await issue(await at({ visibility: 'internal' }));
      seen['private'] = await issue(await at({ visibility: 'private' }));
      seen['disabled'] = await issue(await at({ issues_access_level: 'disabled' }));
      seen['members only'] = await issue(await at({ issues_access_level: 'private' }));
      seen['archived'] = await issue(await at({ archived: 1 }));
      seen['of a member'] = await issue(member.id);
      seen['confidential'] = await issue(await at({}), { confidential: 1 });
      seen['confidential, own'] = await issue(await at({}), { confidential: 1, author: stranger.id });
      seen['confidential, assigned'] = await issue(await at({}), {
        confidential: 1,
        assignees: [stranger.id],
      });
      seen['confidential, of a member'] = await issue(member.id, { confidential: 1 });
      seen['deleted'] = await issue(await at({}), { deleted: true });
    });

    const rows: Record<string, string[]> = {
      stranger: ['public', 'internal', 'archived', 'confidential, own', 'confidential, assigned'],
      external: ['public', 'archived'],
      guest: ['public', 'internal', 'archived', 'of a member'],
      reporter: ['public', 'internal', 'archived', 'of a member', 'confidential, of a member'],
    };
    for (const [name, expected] of Object.entries(rows)) {
      it(`for the ${name}: ${expected.join('; ')}`, async () => {
        const all = ids(await world.api('GET /issues?scope=all&per_page=100', { as: people[name]!.token }));
        const names = Object.keys(seen).filter((key) => all.includes(seen[key]!));
        assert.deepEqual(names, expected);
      });
    }

    it('for an administrator: all but disabled and deleted ones', async () => {
      const all = ids(await world.api('GET /issues?scope=all&per_page=100'));
      const missing = Object.keys(seen).filter((key) => !all.includes(seen[key]!));
      assert.deepEqual(missing, ['disabled', 'deleted']);
    });
  });

  it('an author without access to the project no longer sees their issue', async () => {
    const team = await world.team({ visibility: 'private' });
    await world.issue(team.id, {}, team.guest.token);
    assert.equal((await world.api('GET /issues', { as: team.guest.token })).body.length, 1);
    await world.gantry.service.platform.store.write(async (tx) => {
      await tx.db.deleteFrom('members').where('user_id', '=', team.guest.id).execute();
    });
    assert.deepEqual((await world.api('GET /issues', { as: team.guest.token })).body, []);
  });
});

describe('GET /groups/:id/issues', () => {
  it('issues of the group and of the groups below it, of everybody', async () => {
    const top = await seedGroup(world.gantry);
    const below = await seedGroup(world.gantry, { parent: top.id });
    const author = await seedUser(world.gantry);
    const made = [];
    for (const namespace of [top.id, below.id]) {
      const project = await world.project({ namespace });
      made.push((await world.issue(project.id, {}, author.token)).id);
    }
    await world.issue((await world.project()).id);
    assert.deepEqual(ids(await world.api(`GET /groups/${top.id}/issues`)), made);
    assert.deepEqual(ids(await world.api(`GET /groups/${top.path.toUpperCase()}/issues`)), made);
    assert.deepEqual(ids(await world.api(`GET /groups/${below.id}/issues`)), made.slice(1));
  });

  it('a missing group and a hidden one: 404 `404 Group Not Found`', async () => {
    const hidden = await seedGroup(world.gantry, { visibility: 'private' });
    const { token } = await seedUser(world.gantry);
    for (const id of [hidden.id, hidden.path, 999_999, 'nothing%2Fhere', '-1']) {
      const reply = await world.api(`GET /groups/${id}/issues`, { as: token });
      assert.deepEqual(answer(reply), [404, { message: '404 Group Not Found' }], String(id));
    }
  });

  it('a user name is no group', async () => {
    assert.equal((await world.api('GET /groups/root/issues')).status, 404);
  });

  it('a private group with a project that is visible to the caller is readable', async () => {
    const group = await seedGroup(world.gantry, { visibility: 'private' });
    const [shown, hidden] = [
      await world.team({ namespace: group.id, visibility: 'private' }),
      await world.project({ namespace: group.id, visibility: 'private' }),
    ];
    const issue = await world.issue(shown.id);
    await world.issue(hidden.id);
    assert.deepEqual(ids(await world.api(`GET /groups/${group.id}/issues`, { as: shown.guest.token })), [
      issue.id,
    ]);
  });

  it('membership of a group counts in the groups below', async () => {
    const top = await seedGroup(world.gantry, { visibility: 'private' });
    const below = await seedGroup(world.gantry, { parent: top.id, visibility: 'private' });
    const project = await world.project({ namespace: below.id, visibility: 'private' });
    const [open, secret] = [
      await world.issue(project.id),
      await world.issue(project.id, { confidential: true }),
    ];
    const [guest, reporter] = [await seedUser(world.gantry), await seedUser(world.gantry)];
    await seedMember(world.gantry, { user: guest.id, group: top.id, access_level: 10 });
    await seedMember(world.gantry, { user: reporter.id, group: top.id, access_level: 20 });
    assert.deepEqual(ids(await world.api(`GET /groups/${top.id}/issues`, { as: guest.token })), [open.id]);
    const both = await world.api(`GET /groups/${top.id}/issues`, { as: reporter.token });
    assert.deepEqual(ids(both), [open.id, secret.id]);
  });

  it('an expired membership does not count', async () => {
    const project = await world.team({ visibility: 'private' });
    await world.issue(project.id);
    await world.gantry.service.platform.store.write(async (tx) => {
      const ended = { expires_at: '2020-01-01' };
      await tx.db.updateTable('members').set(ended).where('user_id', '=', project.developer.id).execute();
    });
    assert.equal(
      (await world.api(`GET /projects/${project.id}/issues`, { as: project.developer.token })).status,
      404,
    );
  });
});

describe('GET /projects/:id/issues', () => {
  it('issues of the project, of everybody', async () => {
    const team = await world.team();
    await world.issue(team.id, {}, team.stranger.token);
    await world.issue(team.id, {}, team.guest.token);
    await world.issue((await world.project()).id);
    assert.deepEqual(
      sortedIids(await world.api(`GET /projects/${team.id}/issues`, { as: team.guest.token })),
      [1, 2],
    );
  });

  it('issues feature off: 200 and an empty list; one issue: 404', async () => {
    const off = await world.project({ issues_access_level: 'disabled' });
    await seedIssue(world.gantry, { project: off.id });
    const list = await world.api(`GET /projects/${off.id}/issues`);
    assert.deepEqual(answer(list), [200, []]);
    assert.equal(list.headers.get('x-total'), '0');
    assert.deepEqual(answer(await world.api(`GET /projects/${off.id}/issues/1`)), [
      404,
      { message: '404 Not found' },
    ]);
  });

  it('issues for members only: empty for others', async () => {
    const team = await world.team({ issues_access_level: 'private' });
    await seedIssue(world.gantry, { project: team.id });
    const list = `GET /projects/${team.id}/issues`;
    assert.deepEqual((await world.api(list, { as: team.stranger.token })).body, []);
    assert.equal((await world.api(list, { as: team.guest.token })).body.length, 1);
    assert.equal((await world.api(`${list}/1`, { as: team.stranger.token })).status, 404);
    assert.equal((await world.api(`${list}/1`, { as: team.guest.token })).status, 200);
  });

  it('confidential issues are silently absent, from the totals, too', async () => {
    const team = await world.team();
    for (const confidential of [true, false, true]) await world.issue(team.id, { confidential });
    for (const [who, expected] of [
      ['stranger', [2]],
      ['guest', [2]],
      ['reporter', [1, 2, 3]],
      ['developer', [1, 2, 3]],
      ['owner', [1, 2, 3]],
    ] as const) {
      const one = await world.api(`GET /projects/${team.id}/issues?per_page=1`, { as: team[who].token });
      assert.equal(one.headers.get('x-total'), String(expected.length), who);
      assert.deepEqual(
        sortedIids(await world.api(`GET /projects/${team.id}/issues`, { as: team[who].token })),
        expected,
      );
    }
  });

  it('totals follow every change at once', async () => {
    const team = await world.team();
    const total = async (query = ''): Promise<number[]> => {
      const replies = ['', 'state=opened', 'state=closed', 'labels=x', 'confidential=true'].map((one) =>
        world.api(`GET /projects/${team.id}/issues?per_page=1&${one}&${query}`),
      );
      return (await Promise.all(replies)).map(({ headers }) => Number(headers.get('x-total')));
    };
    const at = `/projects/${team.id}/issues`;
    for (const title of ['a', 'b', 'c']) await world.issue(team.id, { title, labels: 'x' });
    assert.deepEqual(await total(), [3, 3, 0, 3, 0]);
    await world.api(`PUT ${at}/1?state_event=close`);
    assert.deepEqual(await total(), [3, 2, 1, 3, 0]);
    await world.api(`PUT ${at}/2?labels=`);
    assert.deepEqual(await total(), [3, 2, 1, 2, 0]);
    await world.api(`PUT ${at}/2?confidential=true`);
    assert.deepEqual(await total(), [3, 2, 1, 2, 1]);
    await world.api(`DELETE ${at}/3`);
    assert.deepEqual(await total(), [2, 1, 1, 1, 1]);
    const to = await world.project();
    await world.api(`POST ${at}/2/move?to_project_id=${to.id}`);
    assert.deepEqual(await total(), [2, 0, 2, 1, 1]);
    await world.api(`PUT ${at}/1?state_event=reopen`);
    assert.deepEqual(await total(), [2, 1, 1, 1, 1]);
  });
});

describe('GET /projects/:id/issues/:issue_iid', () => {
  it('one issue, with subscribed and _links', async () => {
    const team = await world.team();
    const issue = await world.issue(team.id);
    const reply = await world.api(`GET /projects/${team.id}/issues/${issue.iid}`);
    assert.deepEqual(answer(reply), [200, issue]);
  });

  it('an unknown, deleted or invisible iid: 404 `404 Not found`', async () => {
    const team = await world.team();
    await world.issue(team.id, { confidential: true });
    await world.issue(team.id);
    await world.api(`DELETE /projects/${team.id}/issues/2`);
    for (const iid of [1, 2, 3, 0, -1, 999_999, Number.MAX_SAFE_INTEGER]) {
      const reply = await world.api(`GET /projects/${team.id}/issues/${iid}`, { as: team.guest.token });
      assert.deepEqual(answer(reply), [404, { message: '404 Not found' }], String(iid));
    }
  });

  for (const iid of [
    'abc',
    '1a',
    '0x1',
    '%EF%BC%91',
    '9007199254740992',
    '9223372036854775808',
    '%20',
    '1;2',
  ]) {
    it(`issue_iid ${iid} is not an integer: 400, before the project is looked up`, async () => {
      const reply = await world.api(`GET /projects/999999/issues/${iid}`);
      if (iid === '%20') {
        assert.equal(reply.status, 400);
        return;
      }
      assert.deepEqual(answer(reply), [400, { message: { issue_iid: ['is invalid'] } }]);
    });
  }

  it('+1, 1.0 and 1e0 are integers', async () => {
    const team = await world.team();
    await world.issue(team.id);
    for (const iid of ['+1', '1.0', '1e0', '%201', '1.9']) {
      assert.equal((await world.api(`GET /projects/${team.id}/issues/${iid}`)).status, 200, iid);
    }
  });
});

describe('Confidential issues (behaviour book 1.8)', () => {
  const visible: [string, number][] = [
    ['root', 200],
    ['owner', 200],
    ['reporter', 200],
    ['author', 200],
    ['assignee', 200],
    ['guest', 404],
    ['stranger', 404],
  ];
  let team: Team;
  let author: SeededUser;
  let assignee: SeededUser;
  let at: string;
  before(async () => {
    team = await world.team();
    author = await seedUser(world.gantry);
    assignee = await seedUser(world.gantry);
    const issue = { project: team.id, author: author.id, assignees: [assignee.id], confidential: 1 } as const;
    const { iid } = await seedIssue(world.gantry, issue);
    at = `/projects/${team.id}/issues/${iid}`;
  });
  const tokenOf = (who: string): { as?: string } => {
    if (who === 'root') return {};
    return { as: { author, assignee }[who]?.token ?? team[who as 'guest'].token };
  };

  for (const [who, status] of visible) {
    it(`${who}: ${status}`, async () => {
      assert.equal((await world.api(`GET ${at}`, tokenOf(who))).status, status);
      const list = await world.api(`GET /projects/${team.id}/issues`, tokenOf(who));
      assert.equal(list.body.length, status === 200 ? 1 : 0);
    });
  }

  it('endpoints do not distinguish a hidden issue from a missing one', async () => {
    const calls: [string, string, string][] = [
      ['GET', '', '404 Not found'],
      ['PUT', '?title=x', '404 Not found'],
      ['DELETE', '', '404 Issue Not Found'],
      ['POST', '/move?to_project_id=1', '404 Issue Not Found'],
      ['POST', '/subscribe', '404 Not found'],
      ['POST', '/unsubscribe', '404 Not found'],
      ['POST', '/todo', '404 Not found'],
      ['POST', '/time_estimate?duration=1h', '404 Not found'],
      ['POST', '/reset_time_estimate', '404 Not found'],
      ['POST', '/add_spent_time?duration=1h', '404 Not found'],
      ['POST', '/reset_spent_time', '404 Not found'],
      ['GET', '/time_stats', '404 Not found'],
      ['GET', '/closed_by', '404 Not found'],
    ];
    for (const [method, rest, message] of calls) {
      for (const issue of [at, `/projects/${team.id}/issues/999999`]) {
        const reply = await world.api(`${method} ${issue}${rest}`, tokenOf('guest'));
        assert.deepEqual(answer(reply), [404, { message }], `${method} ${issue}${rest}`);
      }
    }
  });

  it('confidential may be set by anyone who may edit, a guest who is the author included', async () => {
    const { iid } = await world.issue(team.id, {}, team.guest.token);
    const path = `/projects/${team.id}/issues/${iid}`;
    const reply = await world.api(`PUT ${path}?confidential=true`, { as: team.guest.token });
    assert.deepEqual([reply.status, reply.body.confidential], [200, true]);
    assert.equal((await world.api(`GET ${path}`, { as: team.guest.token })).status, 200);
    assert.equal((await world.api(`GET ${path}`, { as: team.stranger.token })).status, 404);
  });
});
