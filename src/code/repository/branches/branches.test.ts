import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import { type SeededUser, seedMember, seedProject, seedUser, unique } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const as = ({ token }: SeededUser) => ({ as: token });

/** Creates a project with a first commit on `main` and a user with a role in it. */
const newCode = async (access_level = 30) => {
  const project = await seedProject(gantry);
  const user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, project: project.id, access_level });
  const sha = await seedCommit(gantry, project.id, { 'README.md': 'Hello\n' });
  const path = `/projects/${project.id}/repository/branches`;
  return { project, user, sha, path };
};

const branch = async (path: string, name: string, ref = 'main', options = {}) =>
  await gantry.api(`POST ${path}`, { json: { branch: name, ref }, ...options });

test('creates, shows, lists and deletes a branch', async () => {
  const { project, user, sha, path } = await newCode();
  const made = await branch(path, 'feature/one', 'main', as(user));
  assert.equal(made.status, 201);
  assert.equal(made.body.name, 'feature/one');
  assert.equal(made.body.commit.id, sha);
  const shown = await gantry.api(`GET ${path}/feature%2Fone`, as(user));
  assert.deepEqual(shown.body, {
    name: 'feature/one',
    commit: made.body.commit,
    merged: true,
    protected: false,
    developers_can_push: false,
    developers_can_merge: false,
    can_push: true,
    default: false,
    web_url: `${gantry.url}/${project.full_path}/tree/feature/one`,
  });
  const list = await gantry.api(`GET ${path}`, as(user));
  assert.deepEqual(
    list.body.map(({ name, default: isDefault }: { name: string; default: boolean }) => [name, isDefault]),
    [
      ['feature/one', false],
      ['main', true],
    ],
  );
  assert.equal(list.headers.get('x-total'), '2');
  const gone = await gantry.api(`DELETE ${path}/feature%2Fone`, as(user));
  assert.deepEqual([gone.status, gone.text], [204, '']);
  const missing = await gantry.api(`GET ${path}/feature%2Fone`, as(user));
  assert.deepEqual([missing.status, missing.body], [404, { message: '404 Branch Not Found' }]);
  assert.equal((await gantry.api(`DELETE ${path}/feature%2Fone`, as(user))).status, 404);
});

test('shows commit times in the time zone of the author', async () => {
  const { project, sha, path } = await newCode();
  const { body } = await gantry.api(`GET ${path}/main`);
  assert.deepEqual(body.commit, {
    id: sha,
    short_id: sha.slice(0, 8),
    created_at: '2017-07-14T02:40:00.000+00:00',
    parent_ids: [],
    title: 'Change README.md',
    message: 'Change README.md\n',
    author_name: 'Ada Lovelace',
    author_email: 'ada@example.com',
    authored_date: '2017-07-14T02:40:00.000+00:00',
    committer_name: 'Ada Lovelace',
    committer_email: 'ada@example.com',
    committed_date: '2017-07-14T02:40:00.000+00:00',
    web_url: `${gantry.url}/${project.full_path}/commit/${sha}`,
  });
});

test('tells by HEAD whether a branch exists', async () => {
  const { path } = await newCode();
  assert.equal((await gantry.api(`HEAD ${path}/main`)).status, 204);
  assert.equal((await gantry.api(`HEAD ${path}/other`)).status, 404);
});

test('searches, sorts and pages branches', async () => {
  const { path } = await newCode();
  for (const name of ['b', 'a', 'ab']) await branch(path, name);
  const names = async (query: string) => {
    const { body, headers } = await gantry.api(`GET ${path}?${query}`);
    return [body.map(({ name }: { name: string }) => name), headers.get('x-total')];
  };
  assert.deepEqual(await names('search=B'), [['ab', 'b'], '2']);
  assert.deepEqual(await names('search=^a'), [['a', 'ab'], '2']);
  assert.deepEqual(await names('per_page=2&page=2'), [['b', 'main'], '4']);
  assert.deepEqual(await names('sort=name_desc&per_page=1'), [['main'], '4']);
});

test('filters branches by a regular expression', async () => {
  const { path } = await newCode();
  for (const name of ['feature/one', 'feature/two', 'Feature', 'fix-1']) await branch(path, name);
  const names = async (regex: string, more = '') => {
    const { status, body, headers } = await gantry.api(
      `GET ${path}?regex=${encodeURIComponent(regex)}${more}`,
    );
    assert.equal(status, 200);
    return [body.map(({ name }: { name: string }) => name), headers.get('x-total')];
  };
  assert.deepEqual(await names('^feature/.+$'), [['feature/one', 'feature/two'], '2']);
  assert.deepEqual(await names('(?i)^f[a-z]*$'), [['Feature'], '1']);
  assert.deepEqual(await names('\\d'), [['fix-1'], '1']);
  assert.deepEqual(await names('e', '&search=one'), [['feature/one'], '1']);
  assert.deepEqual(await names('^f', '&per_page=1&page=2&sort=name_desc'), [['feature/two'], '3']);
  assert.deepEqual(await names('refs/heads'), [[], '0']);
  assert.equal((await names(''))[1], '5');
  for (const bad of ['(', '(?=x)', 'a{1001}']) {
    const { status, body } = await gantry.api(`GET ${path}?regex=${encodeURIComponent(bad)}`);
    assert.deepEqual([status, body], [400, { message: { regex: ['is invalid'] } }], bad);
  }
});

test('marks a branch as merged if the default branch contains its commits', async () => {
  const { project, path } = await newCode();
  await seedCommit(gantry, project.id, { a: '1\n' }, { branch: 'ahead', from: 'main' });
  await branch(path, 'behind');
  await seedCommit(gantry, project.id, { b: '1\n' });
  const { body } = await gantry.api(`GET ${path}`);
  assert.deepEqual(
    body.map((one: { name: string; merged: boolean }) => [one.name, one.merged]),
    [
      ['ahead', false],
      ['behind', true],
      ['main', false],
    ],
  );
});

test('deletes all merged branches except protected ones', async () => {
  const { project, user, path } = await newCode();
  await seedCommit(gantry, project.id, { a: '1\n' }, { branch: 'ahead', from: 'main' });
  await branch(path, 'behind');
  await branch(path, 'kept');
  await gantry.api(`POST /projects/${project.id}/protected_branches`, { json: { name: 'k*' } });
  const reply = await gantry.api(`DELETE /projects/${project.id}/repository/merged_branches`, as(user));
  assert.deepEqual([reply.status, reply.body], [202, { message: '202 Accepted' }]);
  const { body } = await gantry.api(`GET ${path}`);
  assert.deepEqual(
    body.map(({ name }: { name: string }) => name),
    ['ahead', 'kept', 'main'],
  );
});

test('refuses invalid branches with a message', async () => {
  const { path } = await newCode();
  const said = async (name: string, ref = 'main') => {
    const { status, body } = await branch(path, name, ref);
    return [status, body.message];
  };
  assert.deepEqual(await said('main'), [400, 'Branch already exists']);
  assert.deepEqual(await said('new', 'nothing'), [400, 'Invalid reference name: nothing']);
  for (const name of [
    'a b',
    '-x',
    '--upload-pack=x',
    'a..b',
    'HEAD',
    'refs/heads/a',
    'a'.repeat(40),
    'x.lock',
  ]) {
    assert.deepEqual(await said(name), [400, 'Branch name is invalid'], name);
  }
  await said('a');
  assert.deepEqual(await said('a/b'), [400, 'Branch name is invalid']);
  const absent = await gantry.api(`POST ${path}`, { json: { branch: 'x' } });
  assert.deepEqual(absent.body, { message: '400 (Bad request) "ref" not given' });
});

test('refuses to delete the default branch and protected branches', async () => {
  const { project, path } = await newCode(40);
  await branch(path, 'kept');
  await gantry.api(`POST /projects/${project.id}/protected_branches`, { json: { name: 'kept' } });
  const said = async (name: string) => {
    const { status, body } = await gantry.api(`DELETE ${path}/${name}`);
    return [status, body.message];
  };
  assert.deepEqual(await said('main'), [405, 'Cannot remove HEAD branch']);
  assert.deepEqual(await said('kept'), [405, 'Protected branch cant be removed']);
});

test('makes the first branch the default branch and protects it as configured', async () => {
  const { project, user, path } = await newCode();
  const { body } = await gantry.api(`GET ${path}/main`, as(user));
  assert.deepEqual(
    [body.default, body.protected, body.can_push, body.developers_can_push],
    [true, true, false, false],
  );
  const shown = await gantry.api(`GET /projects/${project.id}`);
  assert.deepEqual([shown.body.default_branch, shown.body.empty_repo], ['main', false]);
});

test('starts a branch of an empty project with a README on the default branch', async () => {
  const project = await seedProject(gantry);
  const path = `/projects/${project.id}/repository/branches`;
  assert.deepEqual((await gantry.api(`GET ${path}`)).body, []);
  const made = await branch(path, 'release-1.x', 'main');
  assert.equal(made.status, 201, made.text);
  const { body } = await gantry.api(`GET ${path}`);
  assert.deepEqual(
    body.map(({ name }: { name: string }) => name),
    ['main', 'release-1.x'],
  );
  const tree = await gantry.api(`GET /projects/${project.id}/repository/tree`);
  assert.deepEqual(
    tree.body.map(({ name }: { name: string }) => name),
    ['README.md'],
  );
});

test('lets masters protect and unprotect a branch', async () => {
  const { user, path } = await newCode(40);
  await branch(path, 'feature/x');
  const change = async (word: string, json = {}) =>
    await gantry.api(`PUT ${path}/feature%2Fx/${word}`, { json, ...as(user) });
  const flags = ({ body }: { body: Record<string, boolean> }) => [
    body['protected'],
    body['developers_can_push'],
    body['developers_can_merge'],
  ];
  assert.deepEqual(flags(await change('protect')), [true, false, false]);
  assert.deepEqual(flags(await change('protect', { developers_can_push: true })), [true, true, false]);
  assert.deepEqual(flags(await change('protect', { developers_can_merge: true })), [true, true, true]);
  assert.deepEqual(flags(await change('protect', { developers_can_push: false })), [true, false, true]);
  assert.deepEqual(flags(await change('unprotect')), [false, false, false]);
  const missing = await gantry.api(`PUT ${path}/nothing/protect`, as(user));
  assert.deepEqual(missing.body, { message: '404 Branch Not Found' });
});

test('lets users with push access create and delete branches, protected names only by masters', async () => {
  const { project, path } = await newCode();
  await gantry.api(`POST /projects/${project.id}/protected_branches`, { json: { name: 'release/*' } });
  const [reporter, developer] = [await seedUser(gantry), await seedUser(gantry)];
  await seedMember(gantry, { user: reporter.id, project: project.id, access_level: 20 });
  await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
  assert.equal((await branch(path, unique('b'), 'main', as(reporter))).status, 403);
  assert.equal((await branch(path, unique('b'), 'main', { as: null })).status, 401);
  assert.equal((await branch(path, unique('b'), 'main', as(developer))).status, 201);
  const refused = await branch(path, 'release/1', 'main', as(developer));
  assert.deepEqual(refused.body, {
    message: '403 Forbidden - You are not allowed to push into this branch',
  });
  assert.equal((await gantry.api(`DELETE ${path}/main`, as(reporter))).status, 403);
});

test('refuses new branches in an archived project', async () => {
  const { project, path } = await newCode();
  await gantry.api(`POST /projects/${project.id}/archive`);
  assert.equal((await branch(path, 'x')).status, 403);
  assert.equal((await gantry.api(`DELETE ${path}/main`)).status, 403);
  assert.equal((await gantry.api(`GET ${path}`)).status, 200);
});

test('accepts a branch name that ends in .json', async () => {
  const { path } = await newCode();
  await branch(path, 'labels.json');
  const { status, body } = await gantry.api(`GET ${path}/labels.json`);
  assert.deepEqual([status, body.name], [200, 'labels.json']);
});
