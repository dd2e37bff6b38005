/** Tests the pages of projects, groups and users themselves, at their `web_url`. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedProject, unique } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let username: string;
let user: Visitor;

before(async () => {
  gantry = await startTestService();
  ({ username, visitor: user } = await seedVisitor(gantry));
});
after(async () => await gantry.close());

const pathOf = (url: string): string => new URL(url).pathname;

test('everybody reads the page of a public project and group', async () => {
  const group = await seedGroup(gantry, { visibility: 'public' });
  const project = await seedProject(gantry, { namespace: group.id, visibility: 'public' });
  for (const path of [`/${project.full_path}`, `/groups/${group.full_path}`]) {
    assert.equal((await openVisitor(gantry).get(path)).status, 200, path);
  }
  const { body } = await gantry.api(`GET /projects/${project.id}`);
  const { status, text } = await user.get(pathOf(body.web_url));
  assert.deepEqual([status, text.includes(`value="${body.http_url_to_repo}"`)], [200, true]);
  const { location } = await openVisitor(gantry).get(`/${group.full_path}`);
  assert.equal(location, `/groups/${group.full_path}`);
});

test('a hidden project or group answers like a missing one', async () => {
  const group = await seedGroup(gantry, { visibility: 'private' });
  const project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  const pairs = [
    [`/${project.full_path}`, '/no-such/project'],
    [`/groups/${group.full_path}`, '/groups/no-such'],
    [`/${group.full_path}`, '/no-such'],
  ] as const;
  for (const [hidden, missing] of pairs) {
    const [seen, other] = [await user.get(hidden), await user.get(missing)];
    assert.deepEqual([seen.status, seen.text], [404, other.text], hidden);
    const anonymous = await openVisitor(gantry).get(hidden);
    assert.equal(anonymous.location, `/users/sign_in?return_to=${encodeURIComponent(hidden)}`);
    const lost = await openVisitor(gantry).get(missing);
    assert.equal(lost.location, `/users/sign_in?return_to=${encodeURIComponent(missing)}`);
  }
});

test('a former path, and one in another case, redirect to the current path', async () => {
  const { id, full_path } = await seedProject(gantry, { visibility: 'public' });
  const path = unique('renamed');
  assert.equal((await gantry.api(`PUT /projects/${id}`, { json: { path } })).status, 200);
  const current = `/${full_path.split('/')[0]}/${path}`;
  assert.equal((await user.get(`/${full_path}?a=b`)).location, `${current}?a=b`);
  assert.equal((await user.get(current.toUpperCase())).location, current);
  for (const below of ['/issues?state=all', '/-/labels', '/-/releases'])
    assert.equal((await user.get(`/${full_path}${below}`)).location, current + below, below);
  assert.equal((await user.get(current)).status, 200);
});

test('profiles are for those who have signed in, as over the API', async () => {
  const { body } = await gantry.api(`GET /users?username=${username}`);
  const path = pathOf(body[0].web_url);
  const { status, text } = await user.get(path);
  assert.deepEqual([status, text.includes(`<h1>Name of ${username}</h1>`)], [200, true]);
  assert.match((await openVisitor(gantry).get(path)).location ?? '', /^\/users\/sign_in/);
});
