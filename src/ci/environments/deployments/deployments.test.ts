import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Coded, seedCoded } from '../../../../test/support/seed_merge_requests.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
let project: Coded;
let path: string;
before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry);
  path = `/projects/${project.id}/deployments`;
});
after(async () => await gantry.close());

const create = async (json: object = {}) =>
  await gantry.api(`POST ${path}`, {
    json: { environment: 'by-hand', sha: project.first, ref: 'main', tag: false, status: 'running', ...json },
  });

const environmentOf = async (name: string) =>
  (await gantry.api(`GET /projects/${project.id}/environments?name=${name}`)).body[0];

describe('an external deployment', () => {
  it('is created, listed, read, updated and deleted', async () => {
    const made = await create({ sha: project.first.slice(0, 10) });
    assert.equal(made.status, 201, made.text);
    const { id, iid, created_at, user, environment } = made.body;
    assert.deepEqual(made.body, {
      id,
      iid,
      ref: 'main',
      sha: project.first,
      status: 'running',
      created_at,
      updated_at: created_at,
      user,
      environment,
      deployable: null,
    });
    assert.deepEqual([user.username, environment.name], ['root', 'by-hand']);
    const listed = await gantry.api(`GET ${path}?environment=by-hand&status=running`);
    assert.deepEqual([listed.headers.get('x-total'), listed.body], ['1', [made.body]]);
    assert.deepEqual((await gantry.api(`GET ${path}/${id}`)).body, made.body);
    const runs = await gantry.api(`DELETE ${path}/${id}`);
    assert.deepEqual([runs.status, runs.body], [400, { message: 'Cannot destroy running deployment' }]);
    const done = await gantry.api(`PUT ${path}/${id}`, { json: { status: 'success' } });
    assert.deepEqual([done.status, done.body.status], [200, 'success']);
    const last = await gantry.api(`DELETE ${path}/${id}`);
    assert.deepEqual(
      [last.status, last.body],
      [400, { message: 'Deployment currently deployed to environment' }],
    );
    assert.equal((await create({ status: 'success' })).body.iid, iid + 1);
    assert.equal((await gantry.api(`DELETE ${path}/${id}`)).status, 204);
    assert.equal((await gantry.api(`GET ${path}/${id}`)).status, 404);
  });

  it('makes a stopped environment available again', async () => {
    const { body } = await create({ environment: 'again' });
    const { id } = await environmentOf('again');
    await gantry.api(`POST /projects/${project.id}/environments/${id}/stop`);
    assert.equal((await environmentOf('again')).state, 'stopped');
    await gantry.api(`PUT ${path}/${body.id}`, { json: { status: 'success' } });
    assert.equal((await environmentOf('again')).state, 'available');
  });

  it('refuses to move back to an earlier status', async () => {
    const { body } = await create({ status: 'success' });
    for (const [status, event] of [
      ['running', 'run'],
      ['success', 'succeed'],
    ]) {
      const refused = await gantry.api(`PUT ${path}/${body.id}`, { json: { status } });
      const message = { status: [`cannot transition via "${event}"`] };
      assert.deepEqual([refused.status, refused.body], [400, { message }]);
    }
  });

  it('of a missing commit or ref is refused', async () => {
    const { status, body } = await create({ sha: '1'.repeat(40), ref: 'nowhere' });
    const message = { sha: ['The commit does not exist'], ref: ['The branch or tag does not exist'] };
    assert.deepEqual([status, body], [400, { message }]);
    const blank = await create({ environment: '/' });
    assert.equal(blank.status, 400);
    const missing = await gantry.api(`POST ${path}`, { json: { environment: 'x' } });
    assert.deepEqual(missing.body, { message: '400 (Bad request) "sha" not given' });
  });

  it('is filtered by its end, in the requested order', async () => {
    const ids: number[] = [];
    for (const at of [1, 2, 3]) {
      gantry.setTime(Date.UTC(2030, 0, at));
      ids.push((await create({ environment: 'timed', status: 'failed' })).body.id);
    }
    gantry.setTime(null);
    const query = 'environment=timed&finished_after=2030-01-02&order_by=finished_at&sort=desc';
    const found = await gantry.api(`GET ${path}?${query}`);
    assert.deepEqual(
      found.body.map(({ id }: { id: number }) => id),
      [ids[2], ids[1]],
    );
  });
});
