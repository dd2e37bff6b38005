/** The clock of a running service is set an hour ahead and back: nothing is refused, lost or done twice by that. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { seedPushed } from '../../support/ci/pipelines.ts';
import { seedProject, seedUser } from '../../support/seed.ts';
import { type TestService, startTestService } from '../../support/service.ts';
import { openVisitor } from '../../support/visitor.ts';

const hour = 3_600_000;

let gantry: TestService;
before(async () => {
  gantry = await startTestService({ GANTRY_PIPELINE_LIMIT: '2' });
});
afterEach(() => gantry.setTime(null));
after(async () => await gantry.close());

describe('a clock that was ahead', () => {
  it('does not keep users from signing in for longer', async () => {
    const password = 'correct horse battery';
    const { username } = await seedUser(gantry, { password });
    const visitor = openVisitor(gantry);
    await visitor.get('/users/sign_in');
    const signIn = async (typed: string): Promise<number> =>
      (await visitor.post('/users/sign_in', { login: username, password: typed })).status;
    gantry.setTime(Date.now() + hour);
    for (let failures = 0; failures < 10; failures += 1) await signIn('wrong');
    assert.equal(await signIn(password), 429);
    gantry.setTime(null);
    assert.equal(await signIn(password), 303);
  });

  it('does not count its pipelines as of the last minute', async () => {
    const project = await seedPushed(gantry);
    await project.push({ '.gitlab-ci.yml': 'a: { script: x, when: manual }' });
    const create = async (): Promise<number> =>
      (await gantry.api(`POST ${project.path}/pipeline?ref=main`)).status;
    gantry.setTime(Date.now() + hour);
    assert.deepEqual([await create(), await create(), await create()], [201, 201, 400]);
    gantry.setTime(null);
    assert.equal(await create(), 201);
  });
});

describe('while the clock is set ahead and back', () => {
  it('sessions and tokens stay valid, and what changes later has a later time', async () => {
    const { token, username } = await seedUser(gantry, { password: 'correct horse battery' });
    const visitor = openVisitor(gantry);
    await visitor.signIn(username, 'correct horse battery');
    const { id } = await seedProject(gantry, { owner: 1 });
    const issues = `/projects/${id}/issues`;
    await gantry.api(`POST ${issues}`, { json: { title: 'First' } });
    let before = '';
    for (const hours of [1, 0, -1, 0, 1, -1, 0]) {
      gantry.setTime(Date.now() + hours * hour);
      assert.equal((await visitor.get('/')).status, 200);
      const edited = await gantry.api(`PUT ${issues}/1`, { json: { title: `Edited at ${hours}` } });
      assert.equal(edited.status, 200);
      assert.ok(edited.body.updated_at > before, `${edited.body.updated_at} after ${before}`);
      before = edited.body.updated_at;
      const note = await gantry.api(`POST ${issues}/1/notes`, { as: token, json: { body: `At ${hours}` } });
      assert.equal(note.status, 201);
      const made = await gantry.api(`POST ${issues}`, { as: token, json: { title: `At ${hours}` } });
      assert.equal(made.status, 201);
      await gantry.service.worker.drain();
      for (const path of ['issues', 'events', 'issues/1/discussions', 'issues/1/resource_state_events'])
        assert.equal((await gantry.api(`GET /projects/${id}/${path}`)).status, 200, path);
      for (const path of ['/issues?scope=all', '/todos', '/events', '/user/activities'])
        assert.equal((await gantry.api(`GET ${path}`)).status, 200, path);
    }
    const { body } = await gantry.api(`GET ${issues}?sort=asc&per_page=100`);
    assert.deepEqual(
      body.map(({ iid }: { iid: number }) => iid).toSorted((a: number, b: number) => a - b),
      [1, 2, 3, 4, 5, 6, 7, 8],
    );
    const notes = await gantry.api(`GET ${issues}/1/notes?activity_filter=only_comments`);
    assert.equal(notes.body.length, 7);
  });
});
