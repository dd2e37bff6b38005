/** API document, "States and transitions": issue and todo. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Team, type World, answer, startWorld } from '../world.ts';

let world: World;
let team: Team;
before(async () => {
  world = await startWorld();
  team = await world.team();
});
after(async () => await world.close());

const issuePath = async (fields: object = {}, as?: string): Promise<string> => {
  const { iid } = await world.issue(team.id, fields, as);
  return `/projects/${team.id}/issues/${iid}`;
};

describe('Issue', () => {
  it('none -> opened by POST create issue: 201 with the issue', async () => {
    const reply = await world.api(`POST /projects/${team.id}/issues`, { json: { title: 'New' } });
    assert.equal(reply.status, 201);
    assert.deepEqual([reply.body.state, reply.body.closed_at], ['opened', null]);
  });

  it('state_event and state mean nothing on create', async () => {
    const { state } = await world.issue(team.id, { state_event: 'close', state: 'closed' });
    assert.equal(state, 'opened');
  });

  it('opened -> closed by state_event=close, closed -> opened by state_event=reopen: 200 with the issue', async () => {
    const path = await issuePath();
    const closed = await world.api(`PUT ${path}?state_event=close`);
    assert.deepEqual([closed.status, closed.body.state], [200, 'closed']);
    assert.equal(closed.body.closed_at, closed.body.updated_at);
    const opened = await world.api(`PUT ${path}?state_event=reopen`);
    assert.deepEqual([opened.status, opened.body.state, opened.body.closed_at], [200, 'opened', null]);
  });

  for (const [word, role, status] of [
    ['a reporter', 'reporter', 200],
    ['a guest', 'guest', 403],
    ['a stranger', 'stranger', 403],
  ] as const) {
    it(`condition "caller may edit": ${word} closing another's issue is answered ${status}`, async () => {
      const path = await issuePath();
      const reply = await world.api(`PUT ${path}?state_event=close`, { as: team[role].token });
      assert.equal(reply.status, status);
      assert.equal((await world.api(`GET ${path}`)).body.state, status === 200 ? 'closed' : 'opened');
    });
  }

  it('condition "caller may edit": the author may, and so may an assignee', async () => {
    const own = await issuePath({}, team.stranger.token);
    assert.equal((await world.api(`PUT ${own}?state_event=close`, { as: team.stranger.token })).status, 200);
    const assigned = await issuePath({ assignee_ids: [team.guest.id] });
    assert.equal(
      (await world.api(`PUT ${assigned}?state_event=close`, { as: team.guest.token })).status,
      200,
    );
  });

  for (const [state, event] of [
    ['closed', 'close'],
    ['opened', 'reopen'],
  ] as const) {
    it(`${event} on an issue that is ${state}: 200, no change, no note, updated_at untouched`, async () => {
      const { iid, id } = await world.issue(team.id);
      const path = `/projects/${team.id}/issues/${iid}`;
      if (state === 'closed') await world.api(`PUT ${path}?state_event=close`);
      const whole = await world.api(`GET ${path}`);
      const notes = await world.systemNotes(id);
      const reply = await world.api(`PUT ${path}?state_event=${event}`);
      assert.deepEqual(answer(reply), [200, whole.body]);
      assert.deepEqual(await world.systemNotes(id), notes);
    });
  }

  for (const event of ['merge', 'CLOSE', 'closed', 'opened', '1']) {
    it(`state_event=${event} is refused: 400 for a value outside an enumeration`, async () => {
      const reply = await world.api(`PUT ${await issuePath()}?state_event=${event}`);
      assert.deepEqual(answer(reply), [400, { message: { state_event: ['does not have a valid value'] } }]);
    });
  }

  for (const state of ['opened', 'closed'] as const) {
    it(`${state} -> soft deleted by DELETE`, async () => {
      const path = await issuePath();
      if (state === 'closed') await world.api(`PUT ${path}?state_event=close`);
      assert.equal((await world.api(`DELETE ${path}`)).status, 204);
      assert.equal((await world.api(`GET ${path}`)).status, 404);
    });

    it(`${state} -> same state, now in the target project, by POST move`, async () => {
      const to = await world.project();
      const path = await issuePath();
      if (state === 'closed') await world.api(`PUT ${path}?state_event=close`);
      const moved = await world.api(`POST ${path}/move`, { json: { to_project_id: to.id } });
      assert.deepEqual([moved.status, moved.body.state, moved.body.project_id], [201, state, to.id]);
    });
  }
});

describe('Todo', () => {
  it('begins as pending', async () => {
    const reply = await world.api(`POST ${await issuePath()}/todo`);
    assert.deepEqual([reply.status, reply.body.state], [201, 'pending']);
  });
});
