/** `npm run seed` fills an instance through the API; what it created is read back over HTTP. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fill, fillingText } from '../../tools/seed/fill.ts';
import { settle } from '../support/seed_merge_requests.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const password = 'planks and posts';
const seed = async () => await fill({ url: gantry.url, token: rootToken, password });

const pick = async (path: string, ...names: string[]): Promise<unknown[][]> => {
  const { status, body } = await gantry.api(`GET ${path}`);
  assert.equal(status, 200, path);
  return body.map((record: Record<string, unknown>) => names.map((name) => record[name]));
};

test('the seed creates users, groups, code, issues, merge requests and pipelines, once', async () => {
  const first = await seed();
  assert.deepEqual(first.existing, {});
  assert.equal(first.created['users'], 3);

  const bridge = '/projects/workshop%2Fbridge';
  assert.deepEqual(await pick('/groups?order_by=id', 'full_path'), [['workshop'], ['workshop/tools']]);
  assert.deepEqual(await pick('/groups/workshop/members', 'username', 'access_level'), [
    ['root', 50],
    ['ada', 50],
    ['bela', 40],
    ['chidi', 30],
  ]);
  assert.deepEqual(await pick('/projects?order_by=id&sort=asc', 'path_with_namespace', 'visibility'), [
    ['workshop/bridge', 'public'],
    ['workshop/tools/crane', 'internal'],
    ['ada/notebook', 'private'],
  ]);
  const files = await pick(`${bridge}/repository/tree`, 'path');
  assert.ok(files.some(([path]) => path === '.gitlab-ci.yml'));
  assert.deepEqual(await pick(`${bridge}/issues?sort=asc`, 'title', 'state', 'user_notes_count'), [
    ['The third plank creaks', 'opened', 2],
    ['Add handrails', 'opened', 0],
    ['Paint the posts', 'closed', 0],
  ]);
  const [creaks] = (await gantry.api(`GET ${bridge}/issues?sort=asc`)).body;
  assert.deepEqual([creaks.author.username, creaks.assignees[0].username], ['chidi', 'bela']);
  assert.deepEqual(await pick(`${bridge}/merge_requests?sort=asc`, 'source_branch', 'state', 'draft'), [
    ['handrails', 'opened', false],
    ['paint', 'merged', false],
    ['wider-deck', 'opened', true],
  ]);
  await settle(gantry);
  const pipelines = await pick(`${bridge}/pipelines?ref=handrails`, 'status');
  assert.deepEqual(pipelines, [['pending']]);

  const second = await seed();
  assert.deepEqual(second.created, {});
  assert.deepEqual(second.existing, first.created);
  assert.equal((await gantry.api(`GET ${bridge}/issues`)).headers.get('x-total'), '3');
});

test('the seed says how to sign in, and the password opens the API', async () => {
  const filling = await seed();
  const text = fillingText(gantry.url, { ...filling, created: { users: 3 } }, password);
  assert.ok(text.includes(`${gantry.url}/users/sign_in`) && text.includes('ada, bela, chidi'), text);
  assert.ok(text.includes(`password  ${password}`), text);
  const form = new URLSearchParams({ grant_type: 'password', username: 'ada', password });
  const response = await fetch(`${gantry.url}/oauth/token`, { method: 'POST', body: form });
  assert.equal(response.status, 200);
});

test('a token that the instance does not know ends the seed with its answer', async () => {
  await assert.rejects(fill({ url: gantry.url, token: 'unknown', password }), /answered 401/);
});

test('an address where nothing answers is named', async () => {
  const site = { url: 'http://127.0.0.1:1', token: 'any', password };
  await assert.rejects(fill(site), /^Error: http:\/\/127\.0\.0\.1:1 does not answer/);
});
