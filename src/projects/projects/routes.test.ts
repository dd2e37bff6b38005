import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type SeededUser,
  seedGroup,
  seedIssue,
  seedMember,
  seedUser,
  unique,
} from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
let owner: SeededUser;
let stranger: SeededUser;
before(async () => {
  gantry = await startTestService();
  owner = await seedUser(gantry);
  stranger = await seedUser(gantry);
});
after(async () => await gantry.close());

const as = (user: SeededUser, json?: unknown) => ({ as: user.token, ...(json !== undefined && { json }) });

/** Features of GitLab that are not supported. */
const missingFeatures = {
  wiki_enabled: false,
  lfs_enabled: false,
  packages_enabled: false,
  service_desk_enabled: false,
  wiki_access_level: 'disabled',
  pages_access_level: 'disabled',
  analytics_access_level: 'disabled',
  feature_flags_access_level: 'disabled',
  infrastructure_access_level: 'disabled',
  monitor_access_level: 'disabled',
  security_and_compliance_access_level: 'disabled',
  requirements_access_level: 'disabled',
  package_registry_access_level: 'disabled',
  model_experiments_access_level: 'disabled',
  model_registry_access_level: 'disabled',
};

const create = async (attributes: object = {}, user = owner) => {
  const reply = await gantry.api('POST /projects', as(user, { name: unique('made'), ...attributes }));
  assert.equal(reply.status, 201, reply.text);
  return reply.body;
};

const refusal = async (line: string, user: SeededUser, json: object) => {
  const { status, body } = await gantry.api(line, as(user, json));
  return [status, body];
};

const member = async (project: { id: number }, access_level: number): Promise<SeededUser> => {
  const user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, project: project.id, access_level });
  return user;
};

test('creates a project in the personal namespace and returns all fields', async () => {
  const name = unique('Diaspora Client');
  const path = name.toLowerCase().replace(' ', '-');
  const reply = await gantry.api(
    'POST /projects',
    as(owner, { name, description: 'What for', visibility: 'internal' }),
  );
  assert.equal(reply.status, 201);
  const { id, created_at, last_activity_at, namespace, owner: told, ...rest } = reply.body;
  assert.match(created_at, /^\d{4}-\d\d-\d\dT.*Z$/);
  assert.equal(last_activity_at, created_at);
  assert.deepEqual(namespace, {
    id: namespace.id,
    name: `Name of ${owner.username}`,
    path: owner.username,
    kind: 'user',
    full_path: owner.username,
    parent_id: null,
    avatar_url: namespace.avatar_url,
    web_url: `${gantry.url}/${owner.username}`,
  });
  assert.equal(told.username, owner.username);
  assert.equal('email' in told, false);
  const fullPath = `${owner.username}/${path}`;
  const self = `${gantry.url}/api/v4/projects/${id}`;
  assert.deepEqual(rest, {
    description: 'What for',
    default_branch: null,
    tag_list: [],
    topics: [],
    readme_url: null,
    ssh_url_to_repo: `git@127.0.0.1:${fullPath}.git`,
    http_url_to_repo: `${gantry.url}/${fullPath}.git`,
    web_url: `${gantry.url}/${fullPath}`,
    name,
    name_with_namespace: `Name of ${owner.username} / ${name}`,
    path,
    path_with_namespace: fullPath,
    avatar_url: null,
    star_count: 0,
    forks_count: 0,
    _links: {
      self,
      issues: `${self}/issues`,
      merge_requests: `${self}/merge_requests`,
      repo_branches: `${self}/repository/branches`,
      labels: `${self}/labels`,
      events: `${self}/events`,
      members: `${self}/members`,
    },
    archived: false,
    visibility: 'internal',
    updated_at: created_at,
    resolve_outdated_diff_discussions: false,
    container_registry_enabled: false,
    issues_enabled: true,
    merge_requests_enabled: true,
    jobs_enabled: true,
    snippets_enabled: true,
    issues_access_level: 'enabled',
    merge_requests_access_level: 'enabled',
    builds_access_level: 'enabled',
    repository_access_level: 'enabled',
    snippets_access_level: 'enabled',
    forking_access_level: 'enabled',
    releases_access_level: 'enabled',
    environments_access_level: 'enabled',
    container_registry_access_level: 'disabled',
    ...missingFeatures,
    shared_runners_enabled: true,
    group_runners_enabled: true,
    emails_disabled: false,
    emails_enabled: true,
    creator_id: owner.id,
    import_status: 'none',
    import_url: null,
    import_type: null,
    import_error: null,
    open_issues_count: 0,
    runners_token: null,
    public_jobs: true,
    ci_config_path: null,
    build_timeout: 3600,
    max_artifacts_size: null,
    auto_cancel_pending_pipelines: 'enabled',
    ci_default_git_depth: 20,
    keep_latest_artifact: false,
    shared_with_groups: [],
    only_allow_merge_if_pipeline_succeeds: false,
    request_access_enabled: false,
    only_allow_merge_if_all_discussions_are_resolved: false,
    printing_merge_request_link_enabled: true,
    merge_method: 'merge',
    squash_option: 'default_off',
    remove_source_branch_after_merge: true,
    autoclose_referenced_issues: true,
    merge_commit_template: null,
    squash_commit_template: null,
    suggestion_commit_message: null,
    empty_repo: true,
    permissions: { project_access: { access_level: 40, notification_level: 3 }, group_access: null },
  });
  assert.deepEqual(
    (await gantry.api(`GET /projects/${encodeURIComponent(fullPath.toUpperCase())}`, as(owner))).body,
    reply.body,
  );
  const issue = await gantry.api(`POST /projects/${id}/issues`, as(owner, { title: 'First' }));
  assert.deepEqual([issue.status, issue.body.iid], [201, 1]);
});

test('a project is private unless `visibility` or `public` is set', async () => {
  assert.equal((await create()).visibility, 'private');
  assert.equal((await create({ public: true })).visibility, 'public');
  assert.equal((await create({ public: true, visibility: 'internal' })).visibility, 'internal');
});

test('derives the path from the name and the name from the path', async () => {
  const word = unique('Way');
  const named = await create({ name: `Ünder the ${word}.` });
  assert.equal(named.path, `under-the-${word.toLowerCase()}`);
  const path = unique('Only.Path');
  const pathed = await create({ name: undefined, path });
  assert.deepEqual([pathed.name, pathed.path], [path, path]);
  const both = await create({ name: `${word} both`, path: unique('both') });
  assert.equal(both.name, `${word} both`);
});

test('stores every setting of a new project', async () => {
  const attributes = {
    issues_enabled: false,
    merge_requests_access_level: 'private',
    jobs_enabled: 'false',
    snippets_enabled: 0,
    forking_access_level: 'private',
    releases_access_level: 'disabled',
    environments_access_level: 'private',
    topics: 'Rust, web',
    shared_runners_enabled: false,
    public_jobs: false,
    request_access_enabled: true,
    only_allow_merge_if_pipeline_succeeds: true,
    only_allow_merge_if_all_discussions_are_resolved: true,
    ci_config_path: '/ci/all.yml',
    build_timeout: 7200,
    auto_cancel_pending_pipelines: 'disabled',
    ci_default_git_depth: 0,
    keep_latest_artifact: true,
    group_runners_enabled: false,
    autoclose_referenced_issues: false,
    printing_merge_request_link_enabled: false,
    emails_disabled: true,
    merge_commit_template: '%{title}',
    squash_commit_template: '',
    suggestion_commit_message: 'Applied',
    default_branch: 'trunk',
    initialize_with_readme: true,
  };
  const made = await create(attributes);
  const expected = {
    ci_config_path: 'ci/all.yml',
    build_timeout: 7200,
    auto_cancel_pending_pipelines: 'disabled',
    ci_default_git_depth: 0,
    keep_latest_artifact: true,
    issues_enabled: false,
    issues_access_level: 'disabled',
    merge_requests_enabled: true,
    merge_requests_access_level: 'private',
    jobs_enabled: false,
    builds_access_level: 'disabled',
    snippets_enabled: false,
    forking_access_level: 'private',
    releases_access_level: 'disabled',
    environments_access_level: 'private',
    topics: ['Rust', 'web'],
    tag_list: ['Rust', 'web'],
    shared_runners_enabled: false,
    public_jobs: false,
    request_access_enabled: true,
    only_allow_merge_if_pipeline_succeeds: true,
    only_allow_merge_if_all_discussions_are_resolved: true,
    group_runners_enabled: false,
    autoclose_referenced_issues: false,
    printing_merge_request_link_enabled: false,
    emails_enabled: false,
    emails_disabled: true,
    merge_commit_template: '%{title}',
    squash_commit_template: null,
    suggestion_commit_message: 'Applied',
    default_branch: 'trunk',
  };
  for (const [name, value] of Object.entries(expected)) assert.deepEqual([name, made[name]], [name, value]);
  const { _links: links } = made;
  assert.equal('issues' in links, false);
  assert.equal('open_issues_count' in made, false);
});

test('ignores undeclared fields', async () => {
  const forged = {
    id: 7_777,
    creator_id: 1,
    full_path: 'root/x',
    archived: true,
    deleted_at: 1,
    repository_storage: 'x',
    namespace: 1,
  };
  const made = await create({ ...forged, created_at: '2001-01-01' });
  assert.deepEqual([made.creator_id, made.archived, made.namespace.path], [owner.id, false, owner.username]);
  assert.notEqual(made.id, 7_777);
  assert.doesNotMatch(made.created_at, /^2001/);
  const changed = await gantry.api(`PUT /projects/${made.id}`, as(owner, { description: 'x', ...forged }));
  const { updated_at, ...kept } = changed.body;
  assert.deepEqual({ ...kept, updated_at: made.updated_at }, { ...made, description: 'x' });
  assert.ok(updated_at >= made.updated_at);
});

test('names missing and invalid attributes of a new project', async () => {
  const taken = await create();
  const blank = "can't be blank";
  const refusals: [object, unknown][] = [
    [{}, '400 (Bad request) at least one of name, path must be given'],
    [{ name: '' }, { name: [blank], path: [blank] }],
    [{ name: '  ' }, { name: [blank], path: [blank] }],
    [{ name: taken.name }, { name: ['has already been taken'], path: ['has already been taken'] }],
    [{ name: 'Other', path: taken.path.toUpperCase() }, { path: ['has already been taken'] }],
    [{ name: 'x', path: 'Tree' }, { path: ['Tree is a reserved name'] }],
    [{ name: 'x', path: 'x'.repeat(256) }, { path: ['is too long (maximum is 255 characters)'] }],
    [{ name: 'x', path: 'x'.repeat(250) }, { path: ['is too long (maximum is 255 characters)'] }],
    [{ name: 'x', visibility: 'open' }, { visibility: ['does not have a valid value'] }],
    [
      { name: 'x', description: 'x'.repeat(2001) },
      { description: ['is too long (maximum is 2000 characters)'] },
    ],
    [{ name: 'x', issues_access_level: 'some' }, { issues_access_level: ['does not have a valid value'] }],
    [{ name: 'x', shared_runners_enabled: 'maybe' }, { shared_runners_enabled: ['is invalid'] }],
  ];
  for (const [input, message] of refusals) {
    assert.deepEqual(
      await refusal('POST /projects', owner, input),
      [400, { message }],
      JSON.stringify(input),
    );
  }
  for (const path of ['-x', 'a b', 'x.git', 'x.atom', '../x', 'a/b', '..', 'x\u0301']) {
    const [status, body] = await refusal('POST /projects', owner, { name: 'x', path });
    assert.equal(status, 400, path);
    assert.match(body.message.path[0], /^can contain only letters/, path);
  }
  const name = await refusal('POST /projects', owner, { name: '<script>', path: unique('x') });
  assert.match(name[1].message.name[0], /^can contain only letters/);
  assert.equal((await gantry.api('POST /projects', { as: null, json: { name: 'x' } })).status, 401);
});

test('frees the name of a removed project', async () => {
  const made = await create();
  await gantry.api(`DELETE /projects/${made.id}`, as(owner));
  const again = await create({ name: made.name });
  assert.equal(again.path, made.path);
});

test('of concurrent creations of a project, one succeeds', async () => {
  const name = unique('race');
  const paths = [name, name, unique('race'), unique('race')];
  const replies = await Promise.all(
    paths.map((path) => gantry.api('POST /projects', as(owner, { name, path }))),
  );
  assert.deepEqual(
    replies.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 400, 400, 400],
  );
  for (const { status, body } of replies)
    if (status === 400) assert.deepEqual(body.message.name, ['has already been taken']);
});

test('only masters create projects in a group; others do not learn that it exists', async () => {
  const group = await seedGroup(gantry, { visibility: 'public' });
  const hidden = await seedGroup(gantry, { visibility: 'private' });
  const [master, developer] = [await seedUser(gantry), await seedUser(gantry)];
  await seedMember(gantry, { user: master.id, group: group.id, access_level: 40 });
  await seedMember(gantry, { user: developer.id, group: group.id, access_level: 30 });
  const below = await seedGroup(gantry, { parent: group.id });
  const made = await create({ namespace_id: below.id }, master);
  assert.equal(made.path_with_namespace, `${below.full_path}/${made.path}`);
  assert.equal(made.name_with_namespace, `${group.path} / ${below.path} / ${made.name}`);
  assert.deepEqual(made.permissions, {
    project_access: null,
    group_access: { access_level: 40, notification_level: 3 },
  });
  assert.equal('owner' in made, false);
  assert.deepEqual((await gantry.api(`GET /projects/${made.id}/members`, as(master))).body, []);

  const others = await gantry.api(`GET /namespaces/${stranger.username}`, as(stranger));
  for (const namespace_id of [group.id, hidden.id, others.body.id, 999_999_999]) {
    const answer = await refusal('POST /projects', developer, { name: 'x', namespace_id });
    assert.deepEqual(answer, [400, { message: { namespace: ['is not valid'] } }], String(namespace_id));
  }
});

test('a project is never more visible than its group', async () => {
  const group = await seedGroup(gantry, { visibility: 'private', owner: owner.id });
  const text = 'public is not allowed in a private group.';
  const refused = [400, { message: { visibility_level: [text] } }];
  const wide = { name: 'x', namespace_id: group.id, visibility: 'public' };
  assert.deepEqual(await refusal('POST /projects', owner, wide), refused);
  const made = await create({ namespace_id: group.id });
  assert.deepEqual(await refusal(`PUT /projects/${made.id}`, owner, { public: true }), refused);
});

test('enforces the limit of personal projects, not for groups', async () => {
  const user = await seedUser(gantry);
  const { store } = gantry.service.platform;
  const limit = (projects_limit: number) =>
    store.write(
      async ({ db }) =>
        await db.updateTable('users').set({ projects_limit }).where('id', '=', user.id).execute(),
    );
  await limit(1);
  const first = await create({}, user);
  const over = 'Your project limit is 1 projects! Please contact your administrator to increase it';
  assert.deepEqual(await refusal('POST /projects', user, { name: 'x' }), [403, { message: [over] }]);
  const group = await seedGroup(gantry, { owner: user.id });
  await create({ namespace_id: group.id }, user);
  await gantry.api(`DELETE /projects/${first.id}`, as(user));
  await create({}, user);
  await limit(0);
  const none = 'Personal project creation is not allowed. Please contact your administrator with questions';
  assert.deepEqual(await refusal('POST /projects', user, { name: 'x' }), [403, { message: [none] }]);
});

test('an administrator creates a project for a user', async () => {
  const name = unique('gift');
  const made = await gantry.api(`POST /projects/user/${stranger.id}`, {
    json: { name, visibility: 'private' },
  });
  assert.deepEqual(
    [made.status, made.body.creator_id, made.body.namespace.path],
    [201, stranger.id, stranger.username],
  );
  const members = await gantry.api(`GET /projects/${made.body.id}/members`, as(stranger));
  assert.deepEqual(
    members.body.map(({ id, access_level }: { id: number; access_level: number }) => [id, access_level]),
    [[stranger.id, 40]],
  );
  assert.deepEqual(await refusal(`POST /projects/user/${stranger.id}`, owner, { name }), [
    403,
    { message: '403 Forbidden' },
  ]);
  const missing = await gantry.api('POST /projects/user/999999999', { json: { name } });
  assert.deepEqual([missing.status, missing.body], [404, { message: '404 User Not Found' }]);
});

test('shows anonymous callers the basic fields of public projects', async () => {
  const open = await create({ visibility: 'public' });
  const inner = await create({ visibility: 'internal' });
  const reply = await gantry.api(`GET /projects/${open.id}`, { as: null });
  assert.equal(reply.status, 200);
  assert.deepEqual(Object.keys(reply.body).toSorted(), [
    'avatar_url',
    'created_at',
    'default_branch',
    'description',
    'forks_count',
    'http_url_to_repo',
    'id',
    'last_activity_at',
    'name',
    'name_with_namespace',
    'namespace',
    'path',
    'path_with_namespace',
    'readme_url',
    'ssh_url_to_repo',
    'star_count',
    'tag_list',
    'topics',
    'web_url',
  ]);
  const hidden = await gantry.api(`GET /projects/${inner.id}`, { as: null });
  assert.deepEqual([hidden.status, hidden.body], [404, { message: '404 Project Not Found' }]);
});

test('counts open issues for the caller, confidential ones for reporters', async () => {
  const project = await create({ visibility: 'public' });
  await seedIssue(gantry, { project: project.id });
  await seedIssue(gantry, { project: project.id, state: 'closed' });
  await seedIssue(gantry, { project: project.id, confidential: 1, author: stranger.id });
  const count = async (user: SeededUser) =>
    (await gantry.api(`GET /projects/${project.id}`, as(user))).body.open_issues_count;
  assert.equal(await count(owner), 2);
  assert.equal(await count(await member(project, 20)), 2);
  assert.equal(await count(await member(project, 10)), 1);
  assert.equal(await count(stranger), 1);
});

test('shows private features as off to others and hides the runners token', async () => {
  const project = await create({ visibility: 'public', issues_access_level: 'private' });
  const theirs = (await gantry.api(`GET /projects/${project.id}`, as(stranger))).body;
  const { _links: links } = theirs;
  assert.deepEqual(
    [theirs.issues_enabled, links.issues, theirs.open_issues_count],
    [false, undefined, undefined],
  );
  assert.equal('runners_token' in theirs, false);
  assert.deepEqual(theirs.permissions, { project_access: null, group_access: null });
  const guest = (await gantry.api(`GET /projects/${project.id}`, as(await member(project, 10)))).body;
  assert.deepEqual([guest.issues_enabled, guest.open_issues_count], [true, 0]);
});

test('masters change a project; owners change name, path and visibility', async () => {
  const project = await create();
  const [master, developer] = [await member(project, 40), await member(project, 30)];
  const path = `PUT /projects/${project.id}`;
  const changed = await gantry.api(
    path,
    as(master, { description: 'new', issues_enabled: false, name: project.name, visibility: 'private' }),
  );
  assert.deepEqual(
    [changed.status, changed.body.description, changed.body.issues_enabled],
    [200, 'new', false],
  );
  for (const input of [{ name: 'x' }, { path: 'x' }, { visibility: 'public' }, { public: true }]) {
    assert.deepEqual(
      await refusal(path, master, input),
      [403, { message: '403 Forbidden' }],
      JSON.stringify(input),
    );
  }
  assert.equal((await refusal(path, developer, { description: 'x' }))[0], 403);
  assert.equal((await gantry.api(path, { as: null, json: { description: 'x' } })).status, 401);
  const cleared = await gantry.api(path, as(owner, { description: null }));
  assert.equal(cleared.body.description, null);
  const nothing = await gantry.api(path, as(owner, { archived: true }));
  assert.match(
    nothing.body.message,
    /^400 \(Bad request\) at least one of name, path, description, .* must be given$/,
  );
});

test('finds a renamed project by its old path until another takes it', async () => {
  const project = await create({ visibility: 'public' });
  const other = await create();
  const path = unique('moved');
  const reply = await gantry.api(`PUT /projects/${project.id}`, as(owner, { path, name: 'New name' }));
  assert.equal(reply.body.path_with_namespace, `${owner.username}/${path}`);
  assert.equal(reply.body.name, 'New name');
  const at = async (one: string) =>
    (await gantry.api(`GET /projects/${owner.username}%2F${one}`, as(owner))).status;
  assert.deepEqual([await at(path), await at(project.path)], [200, 200]);
  const taken = await refusal(`PUT /projects/${project.id}`, owner, { path: other.path, name: other.name });
  assert.deepEqual(taken, [
    400,
    { message: { name: ['has already been taken'], path: ['has already been taken'] } },
  ]);
  const upper = await gantry.api(`PUT /projects/${project.id}`, as(owner, { path: path.toUpperCase() }));
  assert.equal(upper.body.path, path.toUpperCase());
  const next = await create({ name: project.name });
  const taker = await gantry.api(`GET /projects/${owner.username}%2F${project.path}`, as(owner));
  assert.equal(taker.body.id, next.id);
});

test('owners archive and unarchive a project', async () => {
  const project = await create();
  const archived = await gantry.api(`POST /projects/${project.id}/archive`, as(owner));
  assert.deepEqual([archived.status, archived.body.archived], [201, true]);
  assert.equal((await gantry.api(`POST /projects/${project.id}/archive`, as(owner))).status, 201);
  const back = await gantry.api(`POST /projects/${project.id}/unarchive`, as(owner));
  assert.deepEqual([back.status, back.body.archived], [201, false]);
  assert.equal(
    (await gantry.api(`POST /projects/${project.id}/archive`, as(await member(project, 40)))).status,
    403,
  );
});

test('removes a project at once for owners', async () => {
  const project = await create({ visibility: 'public' });
  const issue = await seedIssue(gantry, { project: project.id });
  assert.equal(
    (await gantry.api(`DELETE /projects/${project.id}`, as(await member(project, 40)))).status,
    403,
  );
  assert.equal((await gantry.api(`DELETE /projects/${project.id}`, as(stranger))).status, 403);
  const headers = { 'if-unmodified-since': 'Sun, 06 Nov 1994 08:49:37 GMT' };
  assert.equal((await gantry.api(`DELETE /projects/${project.id}`, { ...as(owner), headers })).status, 412);
  const reply = await gantry.api(`DELETE /projects/${project.id}`, as(owner));
  assert.deepEqual([reply.status, reply.body], [202, { message: '202 Accepted' }]);
  const encoded = encodeURIComponent(project.path_with_namespace);
  for (const path of [
    project.id,
    encoded,
    `${project.id}/issues`,
    `${project.id}/issues/${issue.iid}`,
    `${project.id}/members`,
  ]) {
    const read = await gantry.api(`GET /projects/${path}`);
    assert.deepEqual([read.status, read.body], [404, { message: '404 Project Not Found' }], String(path));
  }
  assert.equal((await gantry.api(`DELETE /projects/${project.id}`, as(owner))).status, 404);
});

test('answers a hidden project like a missing one on every endpoint', async () => {
  const hidden = await create();
  const requests: [string, string, object?][] = [
    ['GET', ''],
    ['PUT', '', { name: 'x' }],
    ['PUT', '', {}],
    ['DELETE', ''],
    ['POST', '/archive'],
    ['POST', '/unarchive'],
  ];
  const external = await seedUser(gantry, { external: 1 });
  const inner = await create({ visibility: 'internal' });
  for (const [method, rest, json] of requests) {
    const missing = await gantry.api(`${method} /projects/999999999${rest}`, as(stranger, json));
    assert.deepEqual([missing.status, missing.text], [404, '{"message":"404 Project Not Found"}']);
    for (const id of [hidden.id, encodeURIComponent(hidden.path_with_namespace)]) {
      const reply = await gantry.api(`${method} /projects/${id}${rest}`, as(stranger, json));
      assert.deepEqual([reply.status, reply.text], [404, missing.text], `${method} ${rest}`);
    }
    const reply = await gantry.api(`${method} /projects/${inner.id}${rest}`, as(external, json));
    assert.deepEqual([reply.status, reply.text], [404, missing.text], `${method} ${rest}`);
  }
});

test('records one event with its cause for each change', async () => {
  const project = await create();
  await gantry.api(`PUT /projects/${project.id}`, as(owner, { request_access_enabled: true }));
  await gantry.api(`PUT /projects/${project.id}`, as(owner, { request_access_enabled: true }));
  await gantry.api(`POST /projects/${project.id}/archive`, as(owner));
  await gantry.api(`POST /projects/${project.id}/archive`, as(owner));
  await gantry.api(`POST /projects/${project.id}/unarchive`, as(owner));
  await gantry.api(`DELETE /projects/${project.id}`, as(owner));
  const events = await gantry.service.platform.store.db
    .selectFrom('events')
    .select(['kind', 'data'])
    .where('project_id', '=', project.id)
    .where('target_type', '=', 'Project')
    .where('actor_id', '=', owner.id)
    .orderBy('id')
    .execute();
  const kinds = ['created', 'updated', 'archived', 'unarchived', 'removed'].map((verb) => `project.${verb}`);
  assert.deepEqual(
    events.map(({ kind }) => kind),
    kinds,
  );
  assert.deepEqual(JSON.parse(events[1]!.data), { request_access_enabled: [0, 1] });
});
