import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { variablesForJob } from './queries.ts';

let gantry: TestService;
let project: number;
let namespace: number;
let group: number;

before(async () => {
  gantry = await startTestService();
  const made = (await gantry.api('POST /groups', { json: { name: 'team', path: 'team' } })).body;
  group = made.id;
  const sub = await gantry.api('POST /groups', { json: { name: 'sub', path: 'sub', parent_id: group } });
  namespace = sub.body.id;
  project = (await gantry.api('POST /projects', { json: { name: 'engine', namespace_id: namespace } })).body
    .id;
});
after(async () => await gantry.close());

const shown = {
  variable_type: 'env_var',
  key: 'KEY',
  value: 'value',
  protected: false,
  masked: false,
  hidden: false,
  raw: false,
  environment_scope: '*',
  description: null,
};

for (const [of, path] of [
  ['a project', () => `/projects/${project}/variables`],
  ['a group', () => `/groups/${group}/variables`],
  ['the instance', () => '/admin/ci/variables'],
] as const) {
  describe(`variables of ${of}`, () => {
    it('are created, listed, read, edited and deleted', async () => {
      const made = await gantry.api(`POST ${path()}`, { json: { key: 'KEY', value: 'value' } });
      assert.deepEqual([made.status, made.body], [201, shown]);
      const listed = await gantry.api(`GET ${path()}`);
      assert.deepEqual([listed.headers.get('x-total'), listed.body], ['1', [shown]]);
      assert.deepEqual((await gantry.api(`GET ${path()}/KEY`)).body, shown);
      const json = { value: 'longer value', protected: true, variable_type: 'file', description: 'words' };
      const edited = await gantry.api(`PUT ${path()}/KEY`, { json });
      assert.deepEqual([edited.status, edited.body], [200, { ...shown, ...json }]);
      assert.equal((await gantry.api(`DELETE ${path()}/KEY`)).status, 204);
      const gone = await gantry.api(`GET ${path()}/KEY`);
      assert.deepEqual([gone.status, gone.body], [404, { message: '404 Variable Not Found' }]);
    });

    it('of one key are created once under concurrency', async () => {
      const make = async () => await gantry.api(`POST ${path()}`, { json: { key: 'ONCE', value: 'x' } });
      const made = await Promise.all(Array.from({ length: 6 }, make));
      const statuses = made.map(({ status }) => status).toSorted((a, b) => a - b);
      assert.deepEqual(statuses, [201, 400, 400, 400, 400, 400]);
      assert.equal((await gantry.api(`DELETE ${path()}/ONCE`)).status, 204);
    });

    it('of one key are distinguished by their scope', async () => {
      for (const environment_scope of ['*', 'production']) {
        const json = { key: 'SCOPED', value: environment_scope, environment_scope };
        assert.equal((await gantry.api(`POST ${path()}`, { json })).status, 201);
        const again = await gantry.api(`POST ${path()}`, { json });
        assert.deepEqual(again.body, { message: { key: ['(SCOPED) has already been taken'] } });
      }
      assert.equal((await gantry.api(`GET ${path()}/SCOPED`)).status, 409);
      const one = await gantry.api(`GET ${path()}/SCOPED?filter[environment_scope]=production`);
      assert.equal(one.body.value, 'production');
      for (const scope of ['*', 'production']) {
        const gone = await gantry.api(`DELETE ${path()}/SCOPED?filter[environment_scope]=${scope}`);
        assert.equal(gone.status, 204);
      }
    });
  });
}

describe('a variable', () => {
  const refused: [string, object, object][] = [
    [
      'a key with a blank',
      { key: 'A B', value: 'x' },
      { key: ["can contain only letters, digits and '_'."] },
    ],
    ['a masked value that is short', { key: 'A', value: 'short', masked: true }, { value: ['is invalid'] }],
    [
      'a masked value of two lines',
      { key: 'A', value: 'long\nenough', masked: true },
      { value: ['is invalid'] },
    ],
    [
      'a value of more than 10,000 bytes',
      { key: 'A', value: 'x'.repeat(10_001) },
      { value: ['is too long. The maximum is 10000 bytes.'] },
    ],
  ];
  for (const [what, json, message] of refused) {
    it(`with ${what} is refused`, async () => {
      const { status, body } = await gantry.api(`POST /projects/${project}/variables`, { json });
      assert.deepEqual([status, body], [400, { message }]);
    });
  }

  it('that is hidden is never returned again', async () => {
    const json = { key: 'HIDDEN', value: 'not-to-be-seen', masked_and_hidden: true };
    const made = await gantry.api(`POST /projects/${project}/variables`, { json });
    assert.deepEqual([made.body.value, made.body.hidden, made.body.masked], [null, true, true]);
    assert.equal((await gantry.api(`GET /projects/${project}/variables/HIDDEN`)).body.value, null);
  });

  it('the value of a variable is stored encrypted', async () => {
    const json = { key: 'SEALED', value: 'a-secret-in-the-store' };
    await gantry.api(`POST /projects/${project}/variables`, { json });
    const rows = await gantry.service.platform.store.db.selectFrom('variables').selectAll().execute();
    assert.ok(!JSON.stringify(rows).includes('a-secret-in-the-store'));
  });
});

describe('the variables of a job', () => {
  it('are those of the nearest owner, its environment, and protected ones on protected refs', async () => {
    const give = async (path: string, json: object) =>
      assert.equal((await gantry.api(`POST ${path}/variables`, { json })).status, 201);
    await give('/admin/ci', { key: 'WHOSE', value: 'instance' });
    await give('/admin/ci', { key: 'INSTANCE', value: 'instance' });
    await give(`/groups/${group}`, { key: 'WHOSE', value: 'group' });
    await give(`/groups/${group}`, { key: 'GROUP', value: 'group' });
    await give(`/groups/${namespace}`, { key: 'GROUP', value: 'subgroup' });
    await give(`/projects/${project}`, { key: 'WHOSE', value: 'project' });
    await give(`/projects/${project}`, { key: 'SAFE', value: 'x', protected: true });
    await give(`/projects/${project}`, { key: 'WHERE', value: 'any' });
    await give(`/projects/${project}`, { key: 'WHERE', value: 'review', environment_scope: 'review/*' });
    const of = async (isProtected: boolean, environment: string | null) => {
      const found = await variablesForJob(
        gantry.service.platform,
        { id: project, namespace_id: namespace },
        { isProtected, environment },
      );
      const wanted = found.filter(({ key }) => ['WHOSE', 'INSTANCE', 'GROUP', 'SAFE', 'WHERE'].includes(key));
      return Object.fromEntries(wanted.map(({ key, value }) => [key, value]));
    };
    const usual = { WHOSE: 'project', INSTANCE: 'instance', GROUP: 'subgroup', WHERE: 'any' };
    assert.deepEqual(await of(false, null), usual);
    assert.deepEqual(await of(true, 'review/1'), { ...usual, SAFE: 'x', WHERE: 'review' });
  });
});
