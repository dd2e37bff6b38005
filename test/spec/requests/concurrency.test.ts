/** Concurrent calls: iids stay gapless, counters exact, and nothing is lost or doubled. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Issue, type Team, type World, ascending, startWorld } from '../world.ts';

let world: World;
let team: Team;
before(async () => {
  world = await startWorld();
  team = await world.team();
});
after(async () => await world.close());

const times = async <T>(count: number, call: (index: number) => Promise<T>): Promise<T[]> =>
  await Promise.all(Array.from({ length: count }, (_, index) => call(index)));

const pathOf = ({ project_id, iid }: Issue): string => `/projects/${project_id}/issues/${iid}`;

const countersOf = async (project: number) => {
  const { db } = world.gantry.service.platform.store;
  const counted = await db
    .selectFrom('project_counters')
    .select(['opened_issues', 'closed_issues', 'opened_confidential_issues', 'closed_confidential_issues'])
    .where('project_id', '=', project)
    .executeTakeFirstOrThrow();
  return Object.values(counted);
};

/** The counters recomputed from the issues. */
const countOf = async (project: number) => {
  const { db } = world.gantry.service.platform.store;
  const rows = await db.selectFrom('issues').selectAll().where('project_id', '=', project).execute();
  const alive = rows.filter((row) => row.deleted_at === null);
  const of = (state: string, least: number) =>
    alive.filter((row) => row.state === state && row.confidential >= least).length;
  return [of('opened', 0), of('closed', 0), of('opened', 1), of('closed', 1)];
};

it('50 creates in one project: 50 consecutive iids, counters exact', async () => {
  const { id } = await world.project();
  const made = await times(50, (n) =>
    world.issue(id, { title: `n${n}`, confidential: n % 5 === 0, labels: 'a,b' }),
  );
  const iids = made.map(({ iid }) => iid).toSorted((a, b) => a - b);
  assert.deepEqual(
    iids,
    Array.from({ length: 50 }, (_, n) => n + 1),
  );
  assert.deepEqual(await countersOf(id), [50, 0, 10, 0]);
  const list = await world.api(`GET /projects/${id}/issues?per_page=1`);
  assert.equal(list.headers.get('x-total'), '50');
});

it('creates in several projects with the same new label do not disturb each other', async () => {
  const projects = await times(5, () => world.project());
  await times(25, (n) => world.issue(projects[n % 5]!.id, { labels: 'same, same too' }));
  for (const { id } of projects) {
    assert.deepEqual(await countersOf(id), [5, 0, 0, 0]);
    const labels = await world.api(`GET /projects/${id}/labels`);
    assert.equal(labels.body.length, 2);
  }
});

it('edits of several issues that create the same new labels, in any order, all succeed', async () => {
  const { id } = await world.project();
  const made = await times(8, () => world.issue(id));
  for (const round of [1, 2, 3]) {
    const titles = ['p', 'q', 'r', 's'].map((letter) => `${letter}${round}`);
    const replies = await times(8, (n) =>
      world.api(`PUT ${pathOf(made[n])}`, {
        json: { add_labels: n % 2 === 0 ? titles : titles.toReversed() },
      }),
    );
    assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
  }
  assert.equal((await world.api(`GET /projects/${id}/labels`)).headers.get('x-total'), '12');
});

it('failed creations consume no iid', async () => {
  const { id } = await world.project();
  await times(
    20,
    async (n) => await world.api(`POST /projects/${id}/issues?title=${n % 2 === 0 ? 'x' : '%20'}`),
  );
  assert.equal((await world.issue(id)).iid, 11);
});

it('concurrent edits, closes and deletes keep the counters exact', async () => {
  const { id } = await world.project();
  const made = await times(12, (n) => world.issue(id, { confidential: n % 2 === 0 }));
  await times(60, async (n) => {
    const path = pathOf(made[n % 12]);
    if (n % 11 === 0) return await world.api(`DELETE ${path}`);
    const event = n % 2 === 0 ? 'close' : 'reopen';
    return await world.api(`PUT ${path}?state_event=${event}&confidential=${n % 3 === 0}`);
  });
  assert.deepEqual(await countersOf(id), await countOf(id));
});

it('of concurrent deletions of one issue one is 204, the others 404', async () => {
  const issue = await world.issue(team.id);
  const replies = await times(5, () => world.api(`DELETE ${pathOf(issue)}`));
  assert.deepEqual(ascending(replies.map(({ status }) => status)), [204, 404, 404, 404, 404]);
  for (const { status, body } of replies)
    if (status === 404) assert.equal(body.message, '404 Issue Not Found');
  assert.deepEqual(await countersOf(team.id), await countOf(team.id));
});

it('concurrent closes of one issue leave one note', async () => {
  const issue = await world.issue(team.id);
  const replies = await times(6, () => world.api(`PUT ${pathOf(issue)}?state_event=close`));
  assert.ok(replies.every(({ status, body }) => status === 200 && body.state === 'closed'));
  assert.deepEqual(await world.systemNotes(issue.id), ['closed']);
});

it('of concurrent moves of one issue one is 201, the others 400; there is one copy', async () => {
  const [from, to] = [await world.project(), await world.project()];
  const issue = await world.issue(from.id);
  const replies = await times(5, () => world.api(`POST ${pathOf(issue)}/move?to_project_id=${to.id}`));
  assert.deepEqual(ascending(replies.map(({ status }) => status)), [201, 400, 400, 400, 400]);
  assert.deepEqual(await countersOf(to.id), [1, 0, 0, 0]);
});

it('moves back and forth between two projects all succeed', async () => {
  const [one, two] = [await world.project(), await world.project()];
  const made = await times(16, (n) => world.issue(n % 2 === 0 ? one.id : two.id));
  const replies = await times(16, (n) =>
    world.api(`POST ${pathOf(made[n])}/move?to_project_id=${n % 2 === 0 ? two.id : one.id}`),
  );
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [201]);
  for (const { id } of [one, two]) {
    assert.deepEqual(await countersOf(id), [8, 8, 0, 0]);
    assert.deepEqual(await countersOf(id), await countOf(id));
  }
});

it('concurrent label updates leave one of the sets, never a mixture', async () => {
  const issue = await world.issue(team.id);
  const sets = ['p,q', 'r,s', 't,u'];
  await times(18, (n) => world.api(`PUT ${pathOf(issue)}`, { json: { labels: sets[n % 3] } }));
  const { body } = await world.api(`GET ${pathOf(issue)}`);
  assert.ok(sets.includes(body.labels.join(',')), body.labels);
});

describe('concurrent add_labels and assignees', () => {
  it('keep every added label', async () => {
    const issue = await world.issue(team.id);
    await times(10, (n) => world.api(`PUT ${pathOf(issue)}?add_labels=add${n}`));
    assert.equal((await world.api(`GET ${pathOf(issue)}`)).body.labels.length, 10);
  });
  it('keep the assignees of one call', async () => {
    const issue = await world.issue(team.id);
    const { guest, reporter, developer } = team;
    const sets = [[guest.id, reporter.id], [reporter.id, developer.id], []];
    await times(18, (n) => world.api(`PUT ${pathOf(issue)}`, { json: { assignee_ids: sets[n % 3] } }));
    const ids = (await world.api(`GET ${pathOf(issue)}`)).body.assignees.map(({ id }: Issue) => id);
    assert.ok(
      sets.some((set) => set.join() === ids.join()),
      ids.join(),
    );
  });
});

it('concurrent edits never repeat updated_at', async () => {
  const issue = await world.issue(team.id);
  const replies = await times(10, (n) => world.api(`PUT ${pathOf(issue)}?title=t${n}`));
  assert.equal(new Set(replies.map(({ body }) => body.updated_at)).size, 10);
});

it('concurrent comments and edits are all counted', async () => {
  const issue = await world.issue(team.id);
  await times(20, (n) =>
    n % 2 === 0
      ? world.api(`POST ${pathOf(issue)}/notes?body=b${n}`)
      : world.api(`PUT ${pathOf(issue)}?title=t${n}`),
  );
  assert.equal((await world.api(`GET ${pathOf(issue)}`)).body.user_notes_count, 10);
});
