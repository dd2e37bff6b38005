/** File and description templates of a project. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import { type SeededUser, seedMember, seedProject, seedUser } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
let guest: SeededUser;
let id: number;
before(async () => {
  gantry = await startTestService();
  guest = await seedUser(gantry);
  ({ id } = await seedProject(gantry, { visibility: 'private' }));
  await seedMember(gantry, { user: guest.id, project: id, access_level: 10 });
  await seedCommit(gantry, id, {
    '.gitlab/issue_templates/Feature request.md': 'Größe\n',
    '.gitlab/issue_templates/Bug.md': '## Steps\n',
    '.gitlab/issue_templates/C++.md': 'plus\n',
    '.gitlab/issue_templates/notes.txt': 'no\n',
    '.gitlab/issue_templates/.md': 'no\n',
    '.gitlab/issue_templates/deep/Other.md': 'no\n',
    '.gitlab/merge_request_templates/Default.md': 'What and why\n',
  });
  await seedCommit(
    gantry,
    id,
    { '.gitlab/issue_templates/Branch.md': 'no\n' },
    { branch: 'next', from: 'main' },
  );
  await gantry.service.platform.store.write(async ({ db }) => {
    await db.updateTable('projects').set({ default_branch: 'main' }).where('id', '=', id).execute();
  });
});
after(async () => await gantry.close());

const get = async (path: string, as?: string | null) =>
  await gantry.api(`GET /projects/${id}/templates/${path}`, as === undefined ? {} : { as });

test('reads issue and merge request templates from the default branch', async () => {
  const list = await get('issues');
  const names = ['Bug', 'C++', 'Feature request'];
  assert.deepEqual([list.status, list.body], [200, names.map((name) => ({ key: name, name }))]);
  const second = await get('issues?per_page=1&page=2');
  assert.deepEqual([second.body, second.headers.get('x-total')], [[{ key: 'C++', name: 'C++' }], '3']);
  assert.deepEqual((await get('issues/Bug')).body, { name: 'Bug', content: '## Steps\n' });
  assert.deepEqual((await get('issues/C%2B%2B')).body, { name: 'C++', content: 'plus\n' });
  const long = (await get('issues/Feature%20request')).body;
  assert.deepEqual(long, { name: 'Feature request', content: 'Größe\n' });
  assert.deepEqual((await get('merge_requests')).body, [{ key: 'Default', name: 'Default' }]);
  assert.equal((await get('merge_requests/Default')).body.content, 'What and why\n');
});

test('replies 404 for a missing template', async () => {
  for (const name of [
    'None',
    'bug',
    'Branch',
    'notes.txt',
    'deep%2FOther',
    '..%2F..%2FREADME',
    'Bug.md',
    'Bug%00',
  ]) {
    const { status } = await get(`issues/${name}`);
    assert.ok(status === 404 || (status === 400 && name === 'Bug%00'), `${name}: ${status}`);
  }
  const { status, body } = await get('issues/None');
  assert.deepEqual([status, body], [404, { message: '404 Template Not Found' }]);
  assert.equal((await get('nothing')).status, 404);
  const empty = await seedProject(gantry);
  const list = await gantry.api(`GET /projects/${empty.id}/templates/issues`);
  assert.deepEqual([list.status, list.body], [200, []]);
  assert.equal((await gantry.api(`GET /projects/${empty.id}/templates/issues/Bug`)).status, 404);
});

test('shows built-in templates to all viewers, project templates to users with code access', async () => {
  for (const [path, ofGuest] of [
    ['gitignores', 200],
    ['gitignores/Node', 200],
    ['dockerfiles/Node', 200],
    ['gitlab_ci_ymls/Nodejs', 200],
    ['licenses/mit', 200],
    ['issues', 403],
    ['issues/Bug', 403],
    ['merge_requests/Default', 403],
  ] as const) {
    const statuses = [await get(path, guest.token), await get(path, null)].map(({ status }) => status);
    assert.deepEqual([path, ...statuses], [path, ofGuest, 404]);
  }
});

test('returns the same built-in templates with and without a project', async () => {
  for (const type of ['gitignores', 'dockerfiles', 'gitlab_ci_ymls']) {
    const [own, general] = [await get(type), await gantry.api(`GET /templates/${type}`)];
    assert.deepEqual(own.body, general.body);
    const { key } = own.body[0];
    const one = await gantry.api(`GET /templates/${type}/${encodeURIComponent(key)}`);
    assert.deepEqual((await get(`${type}/${encodeURIComponent(key)}`)).body, one.body);
  }
  const [mit] = (await get('licenses')).body.filter(({ key }: { key: string }) => key === 'mit');
  assert.deepEqual(mit, { key: 'mit', name: 'MIT License' });
});

test('fills in the caller or the requested name in a license', async () => {
  const { name } = (await gantry.api('GET /user', { as: guest.token })).body;
  const own = await get('licenses/mit', guest.token);
  assert.ok(own.body.content.includes(name), own.text);
  const other = await get('licenses/mit?fullname=Ada&project=Engine', guest.token);
  assert.match(other.body.content, /Copyright \(c\) \d{4} Ada\n/);
  assert.match((await get('licenses/gpl-3.0?project=Engine')).body.content, /\n +Engine\n/);
  assert.equal((await get('licenses/none')).status, 404);
});
