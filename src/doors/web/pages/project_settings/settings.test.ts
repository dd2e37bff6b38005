/** Tests the settings pages of a project. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedGroup, seedMember, seedProject, unique } from '../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;

let owner: SeededVisitor;
let master: SeededVisitor;
let developer: SeededVisitor;
let stranger: SeededVisitor;

before(async () => {
  gantry = await startTestService();
  [owner, master, developer, stranger] = [
    await seedVisitor(gantry),
    await seedVisitor(gantry),
    await seedVisitor(gantry),
    await seedVisitor(gantry),
  ];
});
after(async () => await gantry.close());

/** Creates a private project with an owner, a maintainer and a developer. */
const place = async () => {
  const group = await seedGroup(gantry, { owner: owner.id, visibility: 'private' });
  const project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  await seedMember(gantry, { user: master.id, project: project.id, access_level: 40 });
  await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
  const load = async () => (await gantry.api(`GET /projects/${project.id}`)).body;
  return { group, project, path: `/${project.full_path}/-/settings`, load };
};

test('saves the fields of one form, and no others', async () => {
  const { project, path, load } = await place();
  await seedCommit(gantry, project.id, { a: 'b' });
  await seedCommit(gantry, project.id, { a: 'c' }, { branch: 'next' });
  const before = await load();
  const { visitor } = owner;
  const saved = await visitor.post(`${path}/about`, {
    name: 'New name',
    description: 'What <b>it does',
    topics: 'one, two , ,one',
    default_branch: 'next',
  });
  assert.deepEqual([saved.status, saved.location], [303, path]);
  const changed = await load();
  assert.deepEqual(
    [changed.name, changed.description, changed.topics, changed.default_branch],
    ['New name', 'What <b>it does', ['one', 'two'], 'next'],
  );
  const { text } = await visitor.get(path);
  assert.match(text, /What &lt;b&gt;it does<\/textarea>/);
  assert.match(text, /name="topics" type="text" value="one, two"/);
  await visitor.post(`${path}/features`, {
    issues_access_level: 'disabled',
    snippets_access_level: 'private',
  });
  const after = await load();
  assert.deepEqual([after.issues_access_level, after.snippets_access_level], ['disabled', 'private']);
  assert.deepEqual(
    [after.name, after.visibility, after.repository_access_level],
    [changed.name, before.visibility, before.repository_access_level],
  );
});

test('shows problems beside the fields, and keeps the input', async () => {
  const { project, path, load } = await place();
  await seedCommit(gantry, project.id, { a: 'b' });
  const { visitor } = owner;
  const cases: [string, Record<string, string>, RegExp][] = [
    ['about', { name: '', topics: 'kept' }, /id="name_error">Name can&#39;t be blank[\s\S]*value="kept"/],
    ['about', { default_branch: 'no-such' }, /branch &#39;no-such&#39; does not exist[\s\S]*value="no-such"/],
    ['about', { description: 'x'.repeat(2_001) }, /id="description_error">Description is too long/],
    ['visibility', { visibility: 'public' }, /id="visibility_error">Visibility public is not allowed/],
    ['visibility', { visibility: 'x' }, /id="visibility_error">Visibility does not have a valid value/],
    ['features', { issues_access_level: 'x' }, /id="issues_access_level_error"/],
    ['path', { path: 'a b' }, /id="path_error">[\s\S]*value="a b"|value="a b"[\s\S]*id="path_error">/],
    ['transfer', { namespace: 'no/such' }, /id="namespace_error">New namespace was not found/],
    ['transfer', { namespace: '' }, /id="namespace_error">New namespace can&#39;t be blank/],
    ['delete', { confirm: 'x' }, /id="confirm_error">Type the full path/],
  ];
  const before = await load();
  for (const [key, form, expected] of cases) {
    const { status, text } = await visitor.post(`${path}/${key}`, form);
    assert.equal(status, 422, key);
    assert.match(text, expected, key);
    assert.match(text, /Correct <a href="#/);
  }
  assert.deepEqual(await load(), before);
});

test('uploads and removes an avatar', async () => {
  const { path, load } = await place();
  const { visitor } = master;
  await visitor.get(path);
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  );
  const upload = async (content: string | Uint8Array<ArrayBuffer>, name = 'a.png') =>
    await visitor.postFiles(`${path}/avatar`, {}, { avatar: { name, content } });
  assert.equal((await upload(Uint8Array.from(png))).location, path);
  const { avatar_url } = await load();
  assert.match(
    (await visitor.get(path)).text,
    new RegExp(`<img class="avatar large square" src="${avatar_url}"`),
  );
  for (const [content, problem] of [
    ['<svg onload="alert(1)"/>', /id="avatar_error">Picture file format is not supported/],
    ['x'.repeat(300_000), /id="avatar_error">Picture is too big/],
  ] as const) {
    const { status, text } = await upload(content, '<b>.png');
    assert.deepEqual([status, problem.test(text)], [422, true]);
  }
  assert.match((await visitor.postFiles(`${path}/avatar`, {}, {})).text, /Picture can&#39;t be blank/);
  assert.equal((await load()).avatar_url, avatar_url);
  assert.equal((await visitor.post(`${path}/avatar/delete`)).location, path);
  assert.equal((await load()).avatar_url, null);
  await developer.visitor.get('/profile');
  assert.equal((await developer.visitor.post(`${path}/avatar/delete`)).status, 403);
  const sent = { avatar: { name: 'a.png', content: Uint8Array.from(png) } };
  assert.equal((await developer.visitor.postFiles(`${path}/avatar`, {}, sent)).status, 403);
});

test('renames, archives and transfers a project', async () => {
  const { project, group, path, load } = await place();
  const { visitor } = owner;
  const renamed = unique('renamed');
  const { location } = await visitor.post(`${path}/path`, { path: renamed });
  assert.equal(location, path);
  const moved = `/${group.full_path}/${renamed}/-/settings`;
  assert.equal((await visitor.get(path)).location, moved);
  assert.match((await visitor.get(moved)).text, /Archive project/);
  await visitor.post(`${moved}/archive`);
  assert.equal((await load()).archived, true);
  assert.match((await visitor.get(moved)).text, /Unarchive project/);
  await visitor.post(`${moved}/unarchive`);
  assert.equal((await load()).archived, false);
  const sent = await visitor.post(`${moved}/transfer`, { namespace: ` ${owner.username} ` });
  assert.deepEqual([sent.status, sent.location], [303, `/${owner.username}/${renamed}`]);
  assert.equal((await load()).path_with_namespace, `${owner.username}/${renamed}`);
  assert.equal((await visitor.get(`/${project.full_path}`)).status, 302);
});

test('deletes a project whose full path was typed', async () => {
  const { project, path } = await place();
  const { status, location } = await owner.visitor.post(`${path}/delete`, { confirm: project.full_path });
  assert.deepEqual([status, location], [303, '/']);
  assert.equal((await gantry.api(`GET /projects/${project.id}`)).status, 404);
});

test('does not transfer into a hidden group', async () => {
  const { path } = await place();
  const hidden = await seedGroup(gantry, { visibility: 'private' });
  await owner.visitor.get(path);
  const [one, other] = [
    await owner.visitor.post(`${path}/transfer`, { namespace: hidden.full_path }),
    await owner.visitor.post(`${path}/transfer`, { namespace: 'no-such-group' }),
  ];
  assert.deepEqual([one.status, other.status], [422, 422]);
  assert.equal(one.text.replaceAll(hidden.full_path, 'no-such-group'), other.text);
});

test('a maintainer changes what the API lets maintainers change', async () => {
  const { project, path, load } = await place();
  const { visitor } = master;
  const { text } = await visitor.get(path);
  assert.match(text, /name="description"/);
  for (const hidden of ['name="name"', 'name="visibility"', 'name="path"', 'Danger zone', 'Delete project']) {
    assert.equal(text.includes(hidden), false, hidden);
  }
  assert.equal((await visitor.post(`${path}/about`, { description: 'theirs' })).status, 303);
  const forms: [string, Record<string, string>][] = [
    ['about', { name: 'theirs' }],
    ['visibility', { visibility: 'public' }],
    ['path', { path: unique('theirs') }],
    ['archive', {}],
    ['unarchive', {}],
    ['transfer', { namespace: master.username }],
    ['delete', { confirm: project.full_path }],
  ];
  for (const [key, form] of forms)
    assert.equal((await visitor.post(`${path}/${key}`, form)).status, 403, key);
  const { name, description, visibility } = await load();
  assert.deepEqual([name, description, visibility], [project.path, 'theirs', 'private']);
});

test('compares the fields that the form shows to a maintainer', async () => {
  const { project, path } = await place();
  await seedCommit(gantry, project.id, { a: 'b' });
  const { visitor } = master;
  const baseIn = (text: string): string => {
    const form = text.slice(text.indexOf(`action="${path}/about"`));
    return /name="base" value="([^"]+)"/.exec(form)?.[1] ?? '';
  };
  const { text } = await visitor.get(path);
  assert.doesNotMatch(text, /name="name"/);
  const mine = { description: 'Mine', topics: '', default_branch: 'main' };
  const rename = async (name: string, description: string): Promise<void> => {
    const { status } = await gantry.api(`PUT /projects/${project.id}`, { json: { name, description } });
    assert.equal(status, 200);
  };
  await rename('Renamed', '');
  assert.equal((await visitor.post(`${path}/about`, { ...mine, base: baseIn(text) })).status, 303);
  const base = baseIn((await visitor.get(path)).text);
  await rename('Renamed again', 'Theirs');
  const refused = await visitor.post(`${path}/about`, { ...mine, description: 'Mine again', base });
  assert.equal(refused.status, 422);
  const card = /Saved meanwhile[^]+?<\/section>/.exec(refused.text)?.[0] ?? '';
  assert.match(card, /<h3>Description<\/h3><p class="lines">Theirs</);
  assert.doesNotMatch(card, /<h3>Name/);
});

test('refuses developers, and hides the settings of hidden projects', async () => {
  const { project, path } = await place();
  const pages = [path, `${path}/merge_requests`, `${path}/ci_cd`];
  for (const one of pages) {
    assert.equal((await developer.visitor.get(one)).status, 403, one);
    const missing = await stranger.visitor.get(one.replace(project.full_path, 'no-such/project'));
    const hidden = await stranger.visitor.get(one);
    assert.deepEqual([hidden.status, hidden.text], [404, missing.text], one);
    assert.match((await openVisitor(gantry).get(one)).location ?? '', /^\/users\/sign_in/);
  }
  assert.equal((await developer.visitor.post(`${path}/about`, { description: 'x' })).status, 403);
  // Invalid input is not answered before the permission.
  assert.equal((await developer.visitor.post(`${path}/visibility`, { visibility: 'x' })).status, 403);
  assert.equal((await stranger.visitor.post(`${path}/visibility`, { visibility: 'x' })).status, 404);
  const home = await developer.visitor.get(`/${project.full_path}/-/pipelines`);
  assert.equal(home.text.includes(`href="${path}"`), false);
  assert.equal((await master.visitor.get(`/${project.full_path}`)).text.includes(`href="${path}"`), true);
});

test('saves how merge requests are merged', async () => {
  const { path, load } = await place();
  const { visitor } = master;
  const page = `${path}/merge_requests`;
  const form = { merge_method: 'ff', squash_option: 'always', remove_source_branch_after_merge: '1' };
  assert.equal((await visitor.post(`${page}/method`, form)).location, page);
  await visitor.post(`${page}/checks`, {
    only_allow_merge_if_pipeline_succeeds: '1',
    only_allow_merge_if_all_discussions_are_resolved: '0',
  });
  await visitor.post(`${page}/messages`, {
    merge_commit_template: '%{title}\r\n\r\n%{url}',
    squash_commit_template: '',
    suggestion_commit_message: 'Apply',
  });
  const saved = await load();
  assert.deepEqual(
    [saved.merge_method, saved.squash_option, saved.remove_source_branch_after_merge],
    ['ff', 'always', true],
  );
  assert.deepEqual(
    [saved.only_allow_merge_if_pipeline_succeeds, saved.only_allow_merge_if_all_discussions_are_resolved],
    [true, false],
  );
  assert.deepEqual(
    [saved.merge_commit_template, saved.squash_commit_template, saved.suggestion_commit_message],
    ['%{title}\n\n%{url}', null, 'Apply'],
  );
  const { text } = await visitor.get(page);
  assert.match(text, /type="radio" value="ff" checked/);
  assert.match(text, /name="only_allow_merge_if_pipeline_succeeds" type="checkbox" value="1" checked/);
  const refused = await visitor.post(`${page}/method`, { merge_method: 'x' });
  assert.deepEqual([refused.status, /Correct <a href="#method_section">/.test(refused.text)], [422, true]);
});

test("leads from GitLab's address of repository settings to protected branches", async () => {
  const { project, path } = await place();
  const { location } = await master.visitor.get(`${path}/repository`);
  assert.equal(location, `/${project.full_path}/-/protected_branches`);
  assert.equal((await developer.visitor.get(`${path}/repository`)).status, 403);
});

test('saves how pipelines run', async () => {
  const { path, load } = await place();
  const { visitor } = master;
  const page = `${path}/ci_cd`;
  await visitor.post(`${page}/pipelines`, {
    ci_config_path: '/ci/main.yml',
    auto_cancel_pending_pipelines: 'disabled',
    public_builds: '0',
  });
  await visitor.post(`${page}/jobs`, {
    build_timeout: '7200',
    ci_default_git_depth: '0',
    shared_runners_enabled: '0',
    group_runners_enabled: '0',
  });
  await visitor.post(`${page}/artifacts`, { keep_latest_artifact: '1' });
  const saved = await load();
  assert.deepEqual(
    [saved.ci_config_path, saved.auto_cancel_pending_pipelines, saved.public_jobs],
    ['ci/main.yml', 'disabled', false],
  );
  assert.deepEqual(
    [
      saved.build_timeout,
      saved.ci_default_git_depth,
      saved.shared_runners_enabled,
      saved.group_runners_enabled,
    ],
    [7200, 0, false, false],
  );
  assert.equal(saved.keep_latest_artifact, true);
  const cases: [string, Record<string, string>, RegExp][] = [
    ['pipelines', { ci_config_path: '../x' }, /id="ci_config_path_error"[\s\S]*traversal/],
    ['jobs', { build_timeout: '1' }, /must be greater than or equal to 600/],
    ['jobs', { build_timeout: 'x', ci_default_git_depth: 'many' }, /2 fields need other values/],
  ];
  for (const [key, form, expected] of cases) {
    const { status, text } = await visitor.post(`${page}/${key}`, form);
    assert.equal(status, 422, key);
    assert.match(text, expected);
  }
  assert.doesNotMatch((await visitor.get(page)).text, /max_artifacts_size/);
  assert.equal((await visitor.post(`${page}/artifacts`, { max_artifacts_size: '5' })).status, 403);
});
