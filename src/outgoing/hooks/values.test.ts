/** Custom headers and URL variables of hooks, one by one. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedProject } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { unsealValues } from './secrets.ts';

let gantry: TestService;
before(async () => void (gantry = await startTestService()));
after(async () => await gantry.close());

const send = async (line: string, json?: object) =>
  await gantry.api(line, json === undefined ? {} : { json });

const valuesOf = async (id: number) => {
  const { store } = gantry.service.platform;
  const row = await store.db.selectFrom('hooks').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const { platform } = gantry.service;
  return {
    headers: unsealValues(platform, row.sealed_custom_headers),
    variables: unsealValues(platform, row.sealed_url_variables),
  };
};

test('sets, replaces and removes one value of a hook of each owner', async () => {
  const [project, group] = [await seedProject(gantry), await seedGroup(gantry)];
  for (const owner of [`/projects/${project.id}/hooks`, `/groups/${group.id}/hooks`, '/hooks']) {
    const url = 'https://hooks.example.com/{path}';
    const made = await send(`POST ${owner}`, {
      url,
      token: 'kept',
      custom_headers: [{ key: 'X-One', value: '1' }],
      url_variables: [{ key: 'path', value: 'a' }],
    });
    assert.equal(made.status, 201, made.text);
    const { id } = made.body;
    const path = `${owner}/${id}`;
    const set = async (what: string, value: string) => (await send(`PUT ${path}/${what}`, { value })).status;
    assert.equal(await set('custom_headers/X-Two', '2'), 204);
    assert.equal(await set('custom_headers/x-one', '3'), 204);
    assert.equal(await set('url_variables/path', 'b'), 204);
    assert.equal(await set('url_variables/other', 'c'), 204);
    assert.deepEqual(await valuesOf(id), {
      headers: { 'X-Two': '2', 'x-one': '3' },
      variables: { path: 'b', other: 'c' },
    });
    const shown = await send(`GET ${path}`);
    assert.deepEqual(shown.body.custom_headers, [{ key: 'X-Two' }, { key: 'x-one' }]);
    assert.doesNotMatch(shown.text, /"value"/);
    assert.equal(await set('custom_headers/Host', 'x'), 422);
    assert.equal(await set('url_variables/1', 'x'), 422);
    assert.equal(await set('url_variables/path', ''), 422);
    const remove = async (what: string) => await send(`DELETE ${path}/${what}`);
    assert.equal((await remove('custom_headers/X-ONE')).status, 204);
    assert.equal((await remove('url_variables/other')).status, 204);
    assert.deepEqual(await valuesOf(id), { headers: { 'X-Two': '2' }, variables: { path: 'b' } });
    const gone = await remove('custom_headers/X-One');
    assert.deepEqual([gone.status, gone.body], [404, { message: '404 Custom header Not Found' }]);
    const unknown = await remove('url_variables/other');
    assert.deepEqual([unknown.status, unknown.body], [404, { message: '404 URL variable Not Found' }]);
    assert.equal((await send(`PUT ${owner}/999999/custom_headers/X`, { value: 'x' })).status, 404);
    assert.equal((await send(`PUT ${path}/custom_headers/X`)).status, 400);
  }
});

test('keeps every value of concurrent requests', async () => {
  const project = await seedProject(gantry);
  const made = await send(`POST /projects/${project.id}/hooks`, { url: 'https://hooks.example.com/' });
  const path = `/projects/${project.id}/hooks/${made.body.id}`;
  const names = ['A', 'B', 'C', 'D'];
  await Promise.all(names.map((name) => send(`PUT ${path}/custom_headers/${name}`, { value: name })));
  const { headers } = await valuesOf(made.body.id);
  assert.deepEqual(Object.keys(headers).toSorted(), names);
});

test('drops the secrets of the former host if a variable leads elsewhere', async () => {
  const project = await seedProject(gantry);
  const made = await send(`POST /projects/${project.id}/hooks`, {
    url: 'https://{host}.example.com/',
    custom_headers: [{ key: 'X-One', value: '1' }],
    url_variables: [{ key: 'host', value: 'hooks' }],
  });
  const path = `/projects/${project.id}/hooks/${made.body.id}`;
  assert.equal((await send(`PUT ${path}/url_variables/host`, { value: 'other' })).status, 204);
  assert.deepEqual(await valuesOf(made.body.id), { headers: {}, variables: { host: 'other' } });
});
