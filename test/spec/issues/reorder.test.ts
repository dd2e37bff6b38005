/** `PUT /projects/:id/issues/:issue_iid/reorder`, and lists with `order_by=relative_position`. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedGroup, seedIssue } from '../../support/seed.ts';
import { type Team, type World, startWorld } from '../world.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(async () => await world.close());

/** Iids in the order of positions. */
const order = async (project: number, query = 'sort=asc'): Promise<number[]> => {
  const path = `GET /projects/${project}/issues?order_by=relative_position&per_page=100&${query}`;
  const { status, body, text } = await world.api(path);
  assert.equal(status, 200, text);
  return (body as { iid: number }[]).map(({ iid }) => iid);
};

type Seeded = { id: number; iid: number };

const seedSome = async (project: number, count: number): Promise<Seeded[]> => {
  const issues: Seeded[] = [];
  for (let at = 0; at < count; at += 1) issues.push(await seedIssue(world.gantry, { project }));
  return issues;
};

const move = async (project: number, { iid }: Seeded, json: object, as?: string) =>
  await world.api(`PUT /projects/${project}/issues/${iid}/reorder`, {
    json,
    ...(as !== undefined && { as }),
  });

const mustMove = async (project: number, issue: Seeded, json: object): Promise<void> => {
  const { status, text } = await move(project, issue, json);
  assert.equal(status, 200, text);
};

describe('PUT reorder', () => {
  it('places an issue before another, after one, and between two', async () => {
    const { id } = await world.project({});
    const [a, b, c, d] = (await seedSome(id, 4)) as [Seeded, Seeded, Seeded, Seeded];
    assert.deepEqual(
      await order(id),
      [a, b, c, d].map(({ iid }) => iid),
    );
    await mustMove(id, d, { move_after_id: a.id });
    assert.deepEqual(
      await order(id),
      [d, a, b, c].map(({ iid }) => iid),
    );
    await mustMove(id, d, { move_before_id: b.id });
    assert.deepEqual(
      await order(id),
      [a, b, d, c].map(({ iid }) => iid),
    );
    await mustMove(id, a, { move_before_id: d.id, move_after_id: c.id });
    assert.deepEqual(
      await order(id),
      [b, d, a, c].map(({ iid }) => iid),
    );
    await mustMove(id, b, { move_before_id: c.id });
    assert.deepEqual(
      await order(id),
      [d, a, c, b].map(({ iid }) => iid),
    );
    const [last] = await seedSome(id, 1);
    assert.deepEqual(
      await order(id),
      [d, a, c, b, last as Seeded].map(({ iid }) => iid),
    );
    assert.deepEqual(
      await order(id, 'sort=desc'),
      [last as Seeded, b, c, a, d].map(({ iid }) => iid),
    );
  });

  it('answers with the issue, and changes nothing else of it', async () => {
    const { id } = await world.project({});
    const [a, b] = (await seedSome(id, 2)) as [Seeded, Seeded];
    const { body: before } = await world.api(`GET /projects/${id}/issues/${b.iid}`);
    const { body } = await move(id, b, { move_after_id: a.id });
    assert.deepEqual(body, before);
  });

  it('finds room, however often issues are moved into the same place', async () => {
    const { id } = await world.project({});
    const issues = await seedSome(id, 6);
    let expected = issues.map(({ iid }) => iid);
    for (let at = 0; at < 44; at += 1) {
      const [first, second] = expected as [number, number];
      const moved = expected[2 + (at % 4)] as number;
      const byIid = (iid: number) => issues.find((one) => one.iid === iid) as Seeded;
      await mustMove(id, byIid(moved), {
        move_before_id: byIid(first).id,
        ...(at % 2 === 0 && { move_after_id: byIid(second).id }),
      });
      expected = [first, moved, ...expected.slice(1).filter((iid) => iid !== moved)];
      assert.deepEqual(await order(id), expected, `move ${at}`);
    }
  });

  it('places simultaneous moves between their neighbours', async () => {
    const { id } = await world.project({});
    const issues = await seedSome(id, 8);
    const [first, last] = [issues[0] as Seeded, issues[1] as Seeded];
    const moved = issues.slice(2);
    const replies = await Promise.all(
      moved.map(async (one) => await move(id, one, { move_before_id: first.id, move_after_id: last.id })),
    );
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
    const iids = await order(id);
    assert.deepEqual([iids[0], iids.at(-1), iids.length], [first.iid, last.iid, 8]);
    // Those that took the same place are told apart by the next move between two of them.
    const [, above, below] = iids as [number, number, number];
    const idOf = (iid: number) => issues.find((one) => one.iid === iid)?.id;
    await mustMove(id, last, { move_before_id: idOf(above), move_after_id: idOf(below) });
    assert.deepEqual((await order(id)).slice(0, 4), [first.iid, above, last.iid, below]);
  });

  it('keeps one order over all projects of a group', async () => {
    const group = await seedGroup(world.gantry);
    const [one, other] = [
      await world.project({ namespace: group.id }),
      await world.project({ namespace: group.id }),
    ];
    const [a] = await seedSome(one.id, 1);
    const [b] = await seedSome(other.id, 1);
    const [c] = await seedSome(one.id, 1);
    await mustMove(one.id, c as Seeded, { move_before_id: a?.id, move_after_id: b?.id });
    const { body } = await world.api(
      `GET /groups/${group.id}/issues?order_by=relative_position&sort=asc&state=opened`,
    );
    assert.deepEqual(
      (body as Seeded[]).map(({ id }) => id),
      [a, c, b].map((one) => one?.id),
    );
  });

  describe('is refused', () => {
    let team: Team;
    let issues: Seeded[];
    before(async () => {
      team = await world.team({ visibility: 'public' });
      issues = await seedSome(team.id, 3);
    });
    const kept = async (status: number, json: object, as?: string): Promise<void> => {
      const reply = await move(team.id, issues[2] as Seeded, json, as);
      assert.equal(reply.status, status, reply.text);
      assert.deepEqual(
        await order(team.id),
        issues.map(({ iid }) => iid),
      );
    };
    it('without a neighbour', async () => await kept(400, {}));
    it('for a number that is none', async () => await kept(400, { move_after_id: 'x' }));
    it('next to itself', async () => await kept(422, { move_after_id: issues[2]?.id }));
    it('next to a missing issue', async () => await kept(422, { move_after_id: 2 ** 40 }));
    it('between an issue and itself', async () => {
      await kept(422, { move_after_id: issues[0]?.id, move_before_id: issues[0]?.id });
    });
    it('next to an issue of another namespace', async () => {
      const { id } = await world.project({ namespace: (await seedGroup(world.gantry)).id });
      const [far] = await seedSome(id, 1);
      await kept(422, { move_after_id: far?.id });
    });
    it('next to a hidden issue', async () => {
      const hidden = await seedIssue(world.gantry, { project: team.id, confidential: 1 });
      const own = await seedIssue(world.gantry, { project: team.id, author: team.guest.id });
      const { status } = await move(team.id, own, { move_after_id: hidden.id }, team.guest.token);
      assert.equal(status, 422);
      await world.api(`DELETE /projects/${team.id}/issues/${hidden.iid}`);
      await world.api(`DELETE /projects/${team.id}/issues/${own.iid}`);
    });
    it('by a guest', async () => await kept(403, { move_after_id: issues[0]?.id }, team.guest.token));
    it('of a missing issue', async () => {
      const { status } = await move(team.id, { id: 0, iid: 999 }, { move_after_id: issues[0]?.id });
      assert.equal(status, 404);
    });
  });

  it('a moved issue stands last in its new project', async () => {
    const [from, to] = [await world.project({}), await world.project({})];
    const [a, b] = (await seedSome(from.id, 2)) as [Seeded, Seeded];
    await mustMove(from.id, b, { move_after_id: a.id });
    await seedSome(to.id, 1);
    const { body } = await world.api(`POST /projects/${from.id}/issues/${b.iid}/move`, {
      json: { to_project_id: to.id },
    });
    assert.equal((await order(to.id)).at(-1), (body as Seeded).iid);
  });

  it('lists with a filter keep the order', async () => {
    const { id } = await world.project({});
    const issues = await seedSome(id, 4);
    for (const { iid } of issues.slice(0, 3)) {
      await world.api(`PUT /projects/${id}/issues/${iid}`, { json: { labels: 'kept' } });
    }
    await mustMove(id, issues[2] as Seeded, { move_after_id: issues[0]?.id });
    assert.deepEqual(
      await order(id, 'sort=asc&labels=kept&state=opened'),
      [2, 0, 1].map((at) => issues[at]?.iid),
    );
    assert.deepEqual(
      await order(id, 'sort=asc&updated_after=2000-01-01T00:00:00Z'),
      [2, 0, 1, 3].map((at) => issues[at]?.iid),
    );
  });
});
