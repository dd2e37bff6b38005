/** API document: `POST .../subscribe`, `.../unsubscribe`, `.../todo`; behaviour book 1.11, 2.9-2.11. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Issue, type Reply, type Team, type World, answer, ascending, startWorld } from '../world.ts';

let world: World;
let team: Team;
before(async () => {
  world = await startWorld();
  team = await world.team();
});
after(async () => await world.close());

const pathOf = ({ project_id, iid }: Issue): string => `/projects/${project_id}/issues/${iid}`;
const say = async (issue: Issue, word: string, as: string): Promise<Reply> =>
  await world.api(`POST ${pathOf(issue)}/${word}`, { as });

const isNotModified = (reply: Reply): void => {
  assert.deepEqual([reply.status, reply.text], [304, '']);
  assert.equal(reply.headers.get('content-type'), null);
};

const subscribed = async (issue: Issue, as: string): Promise<boolean> =>
  (await world.api(`GET ${pathOf(issue)}`, { as })).body.subscribed;

describe('subscribe', () => {
  it('201, the issue with subscribed true; then 304', async () => {
    const issue = await world.issue(team.id);
    const reply = await say(issue, 'subscribe', team.guest.token);
    assert.deepEqual(answer(reply), [201, { ...issue, subscribed: true }]);
    isNotModified(await say(issue, 'subscribe', team.guest.token));
    assert.equal(await subscribed(issue, team.guest.token), true);
    assert.equal(await subscribed(issue, team.reporter.token), false);
  });

  it('needs only to see the issue', async () => {
    const issue = await world.issue(team.id);
    assert.equal((await say(issue, 'subscribe', team.stranger.token)).status, 201);
  });

  it('does not touch updated_at; leaves an event', async () => {
    const issue = await world.issue(team.id);
    const { body } = await say(issue, 'subscribe', team.guest.token);
    assert.equal(body.updated_at, issue.updated_at);
    const [, event] = await world.events('Issue', issue.id);
    assert.deepEqual(event, { kind: 'issue.subscribed', data: {}, actor_id: team.guest.id });
  });

  const participants: [string, (issue: Issue) => Promise<unknown>][] = [
    [
      'the assignee',
      (issue) => world.api(`PUT ${pathOf(issue)}`, { json: { assignee_ids: [team.guest.id] } }),
    ],
    ['who comments', (issue) => world.api(`POST ${pathOf(issue)}/notes?body=x`, { as: team.guest.token })],
    [
      'who is mentioned in the description',
      (issue) => world.api(`PUT ${pathOf(issue)}`, { json: { description: `cc @${team.guest.username}` } }),
    ],
    [
      'who is mentioned in the title',
      (issue) => world.api(`PUT ${pathOf(issue)}`, { json: { title: `for @${team.guest.username}` } }),
    ],
    [
      'who is mentioned in a comment',
      (issue) => world.api(`POST ${pathOf(issue)}/notes`, { json: { body: `@${team.guest.username}` } }),
    ],
    [
      'who gives an award',
      (issue) => world.api(`POST ${pathOf(issue)}/award_emoji?name=star`, { as: team.guest.token }),
    ],
  ];
  for (const [who, takePart] of participants) {
    it(`304 for a participant: ${who}`, async () => {
      const issue = await world.issue(team.id);
      await takePart(issue);
      assert.equal(await subscribed(issue, team.guest.token), true);
      isNotModified(await say(issue, 'subscribe', team.guest.token));
    });
  }

  it('304 for the author', async () => {
    isNotModified(await say(await world.issue(team.id, {}, team.guest.token), 'subscribe', team.guest.token));
  });

  it('a removed mention does not count', async () => {
    const issue = await world.issue(team.id, { description: `@${team.guest.username}` });
    assert.equal(await subscribed(issue, team.guest.token), true);
    await world.api(`PUT ${pathOf(issue)}?description=none`);
    assert.equal(await subscribed(issue, team.guest.token), false);
  });
});

describe('unsubscribe', () => {
  it('304 if not subscribed', async () =>
    isNotModified(await say(await world.issue(team.id), 'unsubscribe', team.guest.token)));

  it('201, the issue with subscribed false', async () => {
    const issue = await world.issue(team.id);
    await say(issue, 'subscribe', team.guest.token);
    const reply = await say(issue, 'unsubscribe', team.guest.token);
    assert.deepEqual(answer(reply), [201, { ...issue, subscribed: false }]);
    isNotModified(await say(issue, 'unsubscribe', team.guest.token));
  });

  it('an explicit unsubscription outranks participation, until the user subscribes again', async () => {
    const { guest } = team;
    const issue = await world.issue(team.id, {}, guest.token);
    assert.equal((await say(issue, 'unsubscribe', guest.token)).status, 201);
    await world.api(`POST ${pathOf(issue)}/notes?body=still%20here`, { as: guest.token });
    assert.equal(await subscribed(issue, guest.token), false);
    isNotModified(await say(issue, 'unsubscribe', guest.token));
    assert.equal((await say(issue, 'subscribe', guest.token)).status, 201);
    assert.equal(await subscribed(issue, guest.token), true);
  });
});

describe('both', () => {
  for (const word of ['subscribe', 'unsubscribe']) {
    it(`${word}: an iid that is no integer names nothing: 404, after the project`, async () => {
      for (const iid of ['abc', '1.5', '-', '9223372036854775808', '999999']) {
        const reply = await world.api(`POST /projects/${team.id}/issues/${iid}/${word}`);
        assert.deepEqual(answer(reply), [404, { message: '404 Not found' }], iid);
      }
      const reply = await world.api(`POST /projects/999999/issues/abc/${word}`);
      assert.deepEqual(answer(reply), [404, { message: '404 Project Not Found' }]);
    });
  }

  it('of two concurrent calls one is 201, the other 304', async () => {
    const issue = await world.issue(team.id);
    for (const word of ['subscribe', 'unsubscribe', 'subscribe']) {
      const calls = Array.from({ length: 6 }, () => say(issue, word, team.guest.token));
      const statuses = (await Promise.all(calls)).map(({ status }) => status);
      assert.deepEqual(ascending(statuses), [201, 304, 304, 304, 304, 304]);
    }
  });
});

describe('todo', () => {
  it('201 todo; 304 if the caller has a pending one', async () => {
    const issue = await world.issue(team.id);
    assert.equal((await say(issue, 'todo', team.guest.token)).status, 201);
    isNotModified(await say(issue, 'todo', team.guest.token));
    assert.equal((await say(issue, 'todo', team.reporter.token)).status, 201);
  });

  it('304 whatever the pending one is: assigned, mentioned', async () => {
    const { guest, reporter } = team;
    const issue = await world.issue(team.id, {
      assignee_ids: [guest.id],
      description: `@${reporter.username}`,
    });
    isNotModified(await say(issue, 'todo', guest.token));
    isNotModified(await say(issue, 'todo', reporter.token));
  });

  it('a todo that is done does not block a new one', async () => {
    const issue = await world.issue(team.id);
    const { body } = await say(issue, 'todo', team.guest.token);
    const done = await world.api(`POST /todos/${body.id}/mark_as_done`, { as: team.guest.token });
    assert.equal(done.body.state, 'done');
    const again = await say(issue, 'todo', team.guest.token);
    assert.equal(again.status, 201);
    assert.notEqual(again.body.id, body.id);
  });

  it('author is the caller, body the title', async () => {
    const issue = await world.issue(team.id, { title: 'The title' });
    const { body } = await say(issue, 'todo', team.guest.token);
    assert.deepEqual([body.author.id, body.body, body.action_name], [team.guest.id, 'The title', 'marked']);
    assert.deepEqual([body.target.id, body.target.subscribed], [issue.id, false]);
  });

  it('does not touch updated_at, notes nothing, leaves an event', async () => {
    const issue = await world.issue(team.id);
    const { body } = await say(issue, 'todo', team.guest.token);
    assert.equal((await world.api(`GET ${pathOf(issue)}`)).body.updated_at, issue.updated_at);
    assert.deepEqual(await world.systemNotes(issue.id), []);
    assert.deepEqual(
      (await world.events('Todo', body.id)).map(({ kind }) => kind),
      ['todo.marked'],
    );
  });

  it('is in the caller’s list of todos as it was answered', async () => {
    const { token } = (await world.team()).stranger;
    const issue = await world.issue(team.id, { labels: 'a,b', assignee_ids: [team.guest.id] });
    const { body } = await say(issue, 'todo', token);
    assert.deepEqual((await world.api('GET /todos', { as: token })).body, [body]);
  });

  it('the list omits issues that the caller no longer sees', async () => {
    const own = await world.team({ visibility: 'private' });
    const issue = await world.issue(own.id);
    await say(issue, 'todo', own.guest.token);
    await world.api(`PUT ${pathOf(issue)}?confidential=true`);
    const list = await world.api('GET /todos', { as: own.guest.token });
    assert.deepEqual([list.body, list.headers.get('x-total')], [[], '0']);
  });

  it('issue_iid abc is invalid', async () => {
    assert.deepEqual(answer(await world.api(`POST /projects/${team.id}/issues/abc/todo`)), [
      400,
      { message: { issue_iid: ['is invalid'] } },
    ]);
  });

  it('of several concurrent calls one is 201, the others 304', async () => {
    const issue = await world.issue(team.id);
    const calls = Array.from({ length: 6 }, () => say(issue, 'todo', team.guest.token));
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    assert.deepEqual(ascending(statuses), [201, 304, 304, 304, 304, 304]);
    assert.equal((await world.todos(issue.id)).length, 1);
  });

  const finishing: [string, (issue: Issue) => Promise<Reply>][] = [
    ['comments', (issue) => world.api(`POST ${pathOf(issue)}/notes?body=x`, { as: team.reporter.token })],
    [
      'awards',
      (issue) => world.api(`POST ${pathOf(issue)}/award_emoji?name=star`, { as: team.reporter.token }),
    ],
    ['closes', (issue) => world.api(`PUT ${pathOf(issue)}?state_event=close`, { as: team.reporter.token })],
  ];
  for (const [what, act] of finishing) {
    it(`is done when the user ${what}`, async () => {
      const issue = await world.issue(team.id);
      await say(issue, 'todo', team.reporter.token);
      assert.ok((await act(issue)).status < 300);
      assert.equal((await world.todos(issue.id))[0]?.state, 'done');
    });
  }
});
