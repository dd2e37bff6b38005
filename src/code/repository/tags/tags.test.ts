import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import { type SeededUser, seedMember, seedProject, seedUser } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const as = ({ token }: SeededUser) => ({ as: token });
const message = ({ status, body }: { status: number; body: { message: unknown } }) => [status, body.message];

const newCode = async (access_level = 40) => {
  const project = await seedProject(gantry);
  const user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, project: project.id, access_level });
  const sha = await seedCommit(gantry, project.id, { 'README.md': 'Hello\n' });
  const base = `/projects/${project.id}`;
  return { project, user, sha, base, path: `${base}/repository/tags` };
};

const tag = async (path: string, json: object, options = {}) =>
  await gantry.api(`POST ${path}`, { json: { ref: 'main', ...json }, ...options });

test('creates, shows, lists and deletes a tag', async () => {
  const { user, sha, path } = await newCode(30);
  const plain = await tag(path, { tag_name: 'v1.0' }, as(user));
  assert.equal(plain.status, 201, plain.text);
  const { commit, ...rest } = plain.body;
  assert.equal(commit.id, sha);
  assert.deepEqual(rest, {
    name: 'v1.0',
    message: null,
    target: sha,
    release: null,
    protected: false,
    created_at: null,
  });
  const own = await tag(path, { tag_name: 'v1.1', message: 'The next\n\nOne' }, as(user));
  assert.equal(own.body.message, 'The next\n\nOne');
  assert.equal(own.body.commit.id, sha);
  assert.notEqual(own.body.target, sha);
  assert.notEqual(own.body.created_at, null);
  assert.deepEqual((await gantry.api(`GET ${path}/v1.1`)).body, own.body);
  assert.equal((await gantry.api(`DELETE ${path}/v1.0`, as(user))).status, 204);
  assert.deepEqual(message(await gantry.api(`GET ${path}/v1.0`)), [404, '404 Tag Not Found']);
  assert.deepEqual(message(await gantry.api(`DELETE ${path}/v1.0`, as(user))), [404, '404 Tag Not Found']);
});

test('searches, sorts and pages tags', async () => {
  const { path } = await newCode();
  for (const tag_name of ['b', 'a', 'ab']) await tag(path, { tag_name });
  const names = async (query: string) => {
    const { body, headers } = await gantry.api(`GET ${path}?${query}`);
    return [body.map(({ name }: { name: string }) => name).join(), headers.get('x-total')];
  };
  assert.deepEqual(await names('order_by=name&sort=asc'), ['a,ab,b', '3']);
  assert.deepEqual(await names('order_by=name&per_page=2&page=2'), ['a', '3']);
  assert.deepEqual(await names('search=B&order_by=name'), ['b,ab', '2']);
});

test('refuses invalid tags with a message', async () => {
  const { path } = await newCode();
  await tag(path, { tag_name: 'v1' });
  const said = async (json: object) => message(await tag(path, json));
  assert.deepEqual(await said({ tag_name: 'v1' }), [400, 'Tag v1 already exists']);
  assert.deepEqual(await said({ tag_name: 'v2', ref: 'none' }), [400, 'Target none is invalid']);
  for (const tag_name of ['a b', '-x', 'a..b', 'HEAD', 'x.lock']) {
    assert.deepEqual(await said({ tag_name }), [400, 'Tag name invalid'], tag_name);
    assert.deepEqual(await said({ tag_name, message: 'Own' }), [400, 'Tag name invalid'], tag_name);
  }
});

test('creates a release of a tag once and edits it', async () => {
  const { user, path } = await newCode();
  const made = await tag(path, { tag_name: 'v1', release_description: 'First' }, as(user));
  assert.deepEqual(made.body.release, { tag_name: 'v1', description: 'First' });
  const say = async (method: string, name: string, description: string) =>
    await gantry.api(`${method} ${path}/${name}/release`, { json: { description }, ...as(user) });
  assert.deepEqual(message(await say('POST', 'v1', 'Again')), [409, 'Release already exists']);
  assert.deepEqual((await say('PUT', 'v1', 'Better')).body, { tag_name: 'v1', description: 'Better' });
  assert.equal((await gantry.api(`GET ${path}/v1`)).body.release.description, 'Better');
  await tag(path, { tag_name: 'v2' });
  assert.deepEqual(message(await say('PUT', 'v2', 'x')), [404, 'Release does not exist']);
  assert.deepEqual((await say('POST', 'v2', 'x')).status, 201);
  assert.deepEqual(message(await say('POST', 'v3', 'x')), [404, '404 Tag Not Found']);
});

test('lets only permitted users create and delete protected tags', async () => {
  const { user, base, path } = await newCode(30);
  const rules = `${base}/protected_tags`;
  const rule = await gantry.api(`POST ${rules}`, { json: { name: 'v*' } });
  assert.equal(rule.status, 201, rule.text);
  assert.deepEqual(rule.body, {
    id: rule.body.id,
    name: 'v*',
    create_access_levels: [
      {
        id: rule.body.id,
        access_level: 40,
        access_level_description: 'Masters',
        user_id: null,
        group_id: null,
      },
    ],
  });
  const refused = await tag(path, { tag_name: 'v1' }, as(user));
  assert.deepEqual(message(refused), [
    403,
    '403 Forbidden - You are not allowed to create this tag as it is protected.',
  ]);
  assert.equal((await tag(path, { tag_name: 'v1' })).body.protected, true);
  assert.equal((await gantry.api(`DELETE ${path}/v1`, as(user))).status, 403);
  assert.equal((await gantry.api(`DELETE ${path}/v1`)).status, 204);
  assert.deepEqual(message(await gantry.api(`POST ${rules}`, { json: { name: 'v*' } })), [
    409,
    "Protected tag 'v*' already exists",
  ]);
  assert.deepEqual((await gantry.api(`GET ${rules}`)).body, [rule.body]);
  assert.deepEqual((await gantry.api(`GET ${rules}/v%2A`)).body, rule.body);
  assert.equal((await gantry.api(`DELETE ${rules}/v*`)).status, 204);
  assert.equal((await gantry.api(`DELETE ${rules}/v*`)).status, 404);
  assert.equal((await tag(path, { tag_name: 'v2' }, as(user))).status, 201);
});

test('lets masters manage protected branches and wildcards', async () => {
  const { user, base } = await newCode(40);
  const path = `${base}/protected_branches`;
  const level = (id: number, access_level: number, access_level_description: string) => [
    { id, access_level, access_level_description, user_id: null, group_id: null },
  ];
  const json = { name: 'release/*', push_access_level: 0, merge_access_level: 30 };
  const { status, body } = await gantry.api(`POST ${path}`, { json, ...as(user) });
  assert.equal(status, 201);
  assert.deepEqual(body, {
    id: body.id,
    name: 'release/*',
    push_access_levels: level(body.id, 0, 'No one'),
    merge_access_levels: level(body.id, 30, 'Developers + Masters'),
    unprotect_access_levels: [],
    allow_force_push: false,
    code_owner_approval_required: false,
  });
  const named = `${path}/release%2F*`;
  assert.deepEqual((await gantry.api(`GET ${named}`, as(user))).body, body);
  const again = await gantry.api(`POST ${path}`, { json, ...as(user) });
  assert.deepEqual(message(again), [409, "Protected branch 'release/*' already exists"]);
  const changed = await gantry.api(`PATCH ${named}`, { json: { allow_force_push: true }, ...as(user) });
  assert.deepEqual(changed.body, { ...body, allow_force_push: true });
  const { body: list } = await gantry.api(`GET ${path}`, as(user));
  assert.deepEqual(
    list.map(({ name }: { name: string }) => name),
    ['main', 'release/*'],
  );
  assert.deepEqual(message(await gantry.api(`POST ${path}`, { json: { name: 'x', push_access_level: 7 } })), [
    400,
    { push_access_level: ['does not have a valid value'] },
  ]);
  assert.deepEqual(message(await gantry.api(`POST ${path}`, { json: { name: ' ' } })), [
    400,
    { name: ["can't be blank"] },
  ]);
  assert.equal((await gantry.api(`DELETE ${named}`, as(user))).status, 204);
  assert.equal((await gantry.api(`GET ${named}`, as(user))).status, 404);
  assert.equal((await gantry.api(`PATCH ${named}`, { json: {}, ...as(user) })).status, 404);
});
