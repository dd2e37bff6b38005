/** Reads that few clients make, over records that other endpoints create. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import { seedGroup, seedIssue, seedMember, seedProject, seedUser, unique } from '../../support/seed.ts';
import { type TestService, startTestService } from '../../support/service.ts';

let gantry: TestService;
before(async () => void (gantry = await startTestService()));
after(async () => await gantry.close());

const send = async (line: string, as?: string | null, json?: object) =>
  await gantry.api(line, { ...(json && { json }), ...(as !== undefined && { as }) });

const must = async (line: string, as?: string, json?: object) => {
  const { status, body, text } = await send(line, as, json);
  assert.ok(status < 300, `${line}: ${status} ${text}`);
  return body;
};

const listIds = async (line: string, as?: string | null): Promise<number[]> => {
  const reply = await send(line, as);
  assert.equal(reply.status, 200, reply.text);
  assert.equal(Number(reply.headers.get('x-total')), reply.body.length);
  return reply.body.map(({ id }: { id: number }) => id);
};

test('lists the groups that a project can be moved to', async () => {
  const user = await seedUser(gantry);
  const now = await seedGroup(gantry, { owner: user.id });
  const [owned, closed, open] = [
    await seedGroup(gantry, { owner: user.id }),
    await seedGroup(gantry, { owner: user.id }),
    await seedGroup(gantry),
  ];
  await seedMember(gantry, { user: user.id, group: open.id, access_level: 30 });
  const { id } = await seedProject(gantry, { namespace: now.id });
  const path = `GET /projects/${id}/transfer_locations`;
  const reach = async () => new Set(await listIds(path, user.token));
  assert.deepEqual(await reach(), new Set([owned.id, closed.id]));
  await must(`PUT /groups/${closed.id}`, undefined, { project_creation_level: 'noone' });
  await must(`PUT /groups/${open.id}`, undefined, { project_creation_level: 'developer' });
  assert.deepEqual(await reach(), new Set([owned.id, open.id]));
  assert.deepEqual(await listIds(`${path}?search=${open.path}`, user.token), [open.id]);
  assert.equal((await listIds(`${path}?per_page=100`)).includes(now.id), false);
  for (const { id: to } of [owned, open])
    await must(`PUT /projects/${id}/transfer`, user.token, { namespace: to });
  assert.equal(
    (await send(`PUT /projects/${id}/transfer`, user.token, { namespace: closed.id })).status,
    403,
  );
});

test('lists the releases of a group that the caller may read', async () => {
  const [owner, guest] = [await seedUser(gantry), await seedUser(gantry)];
  const top = await seedGroup(gantry, { owner: owner.id });
  const below = await seedGroup(gantry, { parent: top.id });
  const release = async (namespace: number, visibility: 'public' | 'private', tag: string, year: number) => {
    const { id } = await seedProject(gantry, { namespace, visibility });
    await seedCommit(gantry, id, { a: tag });
    const json = { tag_name: tag, ref: 'main', description: 'x', released_at: `${year}-01-01` };
    await must(`POST /projects/${id}/releases`, owner.token, json);
    return id;
  };
  const first = await release(top.id, 'public', 'v1', 2020);
  const hidden = await release(below.id, 'private', 'v2', 2022);
  await release(below.id, 'public', 'v3', 2021);
  await seedMember(gantry, { user: guest.id, project: hidden, access_level: 10 });
  const path = `GET /groups/${top.id}/releases`;
  const tags = async (query = '', as?: string | null) => {
    const { body, headers } = await send(`${path}?${query}`, as);
    return [body.map(({ tag_name }: { tag_name: string }) => tag_name).join(' '), headers.get('x-total')];
  };
  assert.deepEqual(await tags('', owner.token), ['v2 v3 v1', '3']);
  assert.deepEqual(await tags('sort=asc', owner.token), ['v1 v3 v2', '3']);
  assert.deepEqual(await tags('per_page=1&page=2', owner.token), ['v3', '3']);
  assert.deepEqual(await tags('', guest.token), ['v3 v1', '2']);
  assert.deepEqual(await tags('', null), ['v3 v1', '2']);
  const oldest = `${path}?sort=asc&per_page=1`;
  const [whole] = await must(oldest, owner.token);
  assert.deepEqual(whole, await must(`GET /projects/${first}/releases/v1`, owner.token));
  const simple = await must(`${oldest}&simple=true`, owner.token);
  const { tag_name, name, description, created_at, released_at, upcoming_release } = whole;
  assert.deepEqual(simple, [{ tag_name, name, description, created_at, released_at, upcoming_release }]);
  await must(`PUT /projects/${first}`, owner.token, { releases_access_level: 'disabled' });
  assert.deepEqual(await tags('', null), ['v3', '1']);
});

test('lists the projects that a user contributed to and that the caller sees', async () => {
  const [user, other] = [await seedUser(gantry), await seedUser(gantry)];
  const [open, secret, old, quiet] = [
    await seedProject(gantry),
    await seedProject(gantry, { visibility: 'private' }),
    await seedProject(gantry),
    await seedProject(gantry),
  ];
  for (const { id } of [open, secret, old, quiet])
    await seedMember(gantry, { user: user.id, project: id, access_level: 30 });
  const confidential = { title: 'Hidden', confidential: true };
  gantry.setTime(Date.now() - 366 * 86_400_000);
  await must(`POST /projects/${old.id}/issues`, user.token, { title: 'Old' });
  gantry.setTime(null);
  for (const { id } of [open, secret])
    await must(`POST /projects/${id}/issues`, user.token, { title: 'New' });
  await must(`POST /projects/${quiet.id}/issues`, user.token, confidential);
  const path = `GET /users/${user.username}/contributed_projects?order_by=id&sort=asc`;
  assert.deepEqual(await listIds(path, user.token), [open.id, secret.id, quiet.id]);
  // A confidential issue does not tell that its author was active.
  assert.deepEqual(await listIds(path, other.token), [open.id]);
  assert.equal((await send('GET /users/nobody-of-that-name/contributed_projects')).status, 404);
});

test('lists issues that a merge request mentions or closes', async () => {
  const user = await seedUser(gantry);
  const { id } = await seedProject(gantry, { owner: user.id });
  const elsewhere = await seedProject(gantry, { visibility: 'private', owner: user.id });
  await seedCommit(gantry, id, { a: '1' });
  const made = [await seedIssue(gantry, { project: id }), await seedIssue(gantry, { project: id })];
  const hidden = await seedIssue(gantry, { project: elsewhere.id });
  await seedIssue(gantry, { project: id });
  const actions = [{ action: 'create', file_path: 'b', content: 'b' }];
  const commit = { branch: 'topic', start_branch: 'main', commit_message: 'x', actions };
  await must(`POST /projects/${id}/repository/commits`, user.token, commit);
  const description = `See #1, closes #2, and ${elsewhere.full_path}#1`;
  const pair = { source_branch: 'topic', target_branch: 'main', title: 'About', description };
  const { iid } = await must(`POST /projects/${id}/merge_requests`, user.token, pair);
  const path = `GET /projects/${id}/merge_requests/${iid}/related_issues`;
  const ids = made.map((issue) => issue.id);
  assert.deepEqual(
    await listIds(path, user.token),
    [...ids, hidden.id].toSorted((a, b) => a - b),
  );
  assert.deepEqual(await listIds(path, (await seedUser(gantry)).token), ids);
  assert.deepEqual((await must(`${path}?per_page=1&page=2`, user.token))[0].id, ids[1]);
});

test('tells administrators the storage of a project, and who was active when', async () => {
  const user = await seedUser(gantry);
  const project = await must('POST /projects', undefined, { name: unique('stored'), visibility: 'private' });
  const storage = await must(`GET /projects/${project.id}/storage`);
  assert.deepEqual(
    [storage.project_id, storage.repository_storage, Object.keys(storage).length],
    [project.id, 'default', 4],
  );
  assert.match(storage.disk_path, /^@hashed\/\w\w\/\w\w\/\w+$/);
  assert.equal((await send(`GET /projects/${project.id}/storage`, user.token)).status, 403);
  const active = async (query: string) =>
    (await must(`GET /user/activities?per_page=100&${query}`)).filter(
      ({ username }: { username: string }) => username === user.username,
    );
  gantry.setTime(Date.UTC(2032, 0, 1));
  await must('GET /user', user.token);
  gantry.setTime(null);
  const day = '2032-01-01';
  const line = { username: user.username, last_activity_on: day, last_activity_at: day };
  assert.deepEqual(await active('from=2032-01-01'), [line]);
  assert.deepEqual(await active(''), [line]);
  assert.deepEqual(await active('from=2032-01-02'), []);
  assert.equal((await send('GET /user/activities', user.token)).status, 403);
});

test('tells administrators how much background work waits and failed', async () => {
  const free = { unique_key: null, turn: null, locked_until: null, locked_by: null, last_error: null };
  const row = { ...free, name: 'made.up', payload: '{}', created_at: 0 };
  gantry.setTime(Date.UTC(2031, 0, 1));
  const now = Date.UTC(2031, 0, 1);
  await gantry.service.platform.store.write(async ({ db }) => {
    const ahead = { ...row, created_at: now, run_at: now + 60_000 };
    await db
      .insertInto('work')
      .values([ahead, { ...row, run_at: Number.MAX_SAFE_INTEGER }])
      .execute();
  });
  const { queues, processes, jobs } = await must('GET /sidekiq/compound_metrics');
  assert.deepEqual(queues['made.up'], { backlog: 1, latency: 0 });
  assert.deepEqual([processes, jobs.processed, jobs.failed], [[], 0, 1]);
  assert.ok(jobs.enqueued >= 1);
  assert.deepEqual(Object.keys(await must('GET /sidekiq/queue_metrics')), ['queues']);
  assert.deepEqual(await must('GET /sidekiq/process_metrics'), { processes: [] });
  assert.deepEqual(Object.keys((await must('GET /sidekiq/job_stats')).jobs), [
    'processed',
    'failed',
    'enqueued',
  ]);
  const user = await seedUser(gantry);
  assert.equal((await send('GET /sidekiq/job_stats', user.token)).status, 403);
  await gantry.service.platform.store.write(
    async ({ db }) => await db.deleteFrom('work').where('name', '=', 'made.up').execute(),
  );
  gantry.setTime(null);
});
