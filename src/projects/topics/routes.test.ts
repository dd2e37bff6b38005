import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedMember, seedProject, seedUser, unique } from '../../../test/support/seed.ts';
import { type TestService, rootToken, startTestService } from '../../../test/support/service.ts';
import { openVisitor } from '../../../test/support/visitor.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

type Topic = { id: number; name: string; total_projects_count: number };

const listed = async (search: string, as?: string | null, more = ''): Promise<Topic[]> => {
  const reply = await gantry.api(`GET /topics?search=${search}${more}`, as === undefined ? {} : { as });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers.get('x-total'), String(reply.body.length));
  return reply.body;
};

const newProject = async (topics: string[], visibility: 'public' | 'internal' | 'private' = 'public') => {
  const { id } = await seedProject(gantry, { visibility });
  const reply = await gantry.api(`PUT /projects/${id}`, { json: { topics } });
  assert.equal(reply.status, 200, reply.text);
  return id;
};

test('administrators create, change and delete topics; projects follow', async () => {
  const [name, renamed] = [unique('Bridges'), unique('spans')];
  const made = await gantry.api('POST /topics', { json: { name, title: 'Bridges', description: 'Spans' } });
  const { id } = made.body;
  const expected = { id, name, title: 'Bridges', description: 'Spans', total_projects_count: 0 };
  assert.deepEqual([made.status, made.body], [201, { ...expected, avatar_url: null }]);
  const again = await gantry.api('POST /topics', { json: { name: name.toUpperCase() } });
  assert.deepEqual([again.status, again.body], [400, { message: { name: ['has already been taken'] } }]);
  for (const json of [{ name: ' ' }, { name: 'a,b' }, { name: 'a\nb' }, { name: 'x', title: ' ' }]) {
    assert.equal((await gantry.api('POST /topics', { json })).status, 400);
  }

  const project = await newProject([name.toLowerCase()]);
  assert.deepEqual((await gantry.api(`GET /projects/${project}`)).body.topics, [name]);
  const changed = await gantry.api(`PUT /topics/${id}`, { json: { name: renamed } });
  assert.deepEqual([changed.status, changed.body.name, changed.body.total_projects_count], [200, renamed, 1]);
  const { topics, tag_list } = (await gantry.api(`GET /projects/${project}`)).body;
  assert.deepEqual([topics, tag_list], [[renamed], [renamed]]);
  assert.deepEqual(
    (await gantry.api(`GET /projects?topic_id=${id}`)).body.map((one: { id: number }) => one.id),
    [project],
  );
  assert.deepEqual((await gantry.api('GET /projects?topic_id=99999999')).body, []);
  assert.equal((await gantry.api(`PUT /topics/${id}`, { json: {} })).status, 400);

  assert.equal((await gantry.api(`DELETE /topics/${id}`)).status, 204);
  assert.deepEqual((await gantry.api(`GET /projects/${project}`)).body.topics, []);
  assert.equal((await gantry.api(`GET /topics/${id}`)).status, 404);
  assert.equal((await gantry.api(`DELETE /topics/${id}`)).status, 404);
});

test('merges topics without counting a project twice', async () => {
  const [from, to] = [unique('from'), unique('to')];
  const both = await newProject([from, to, unique('third')]);
  const one = await newProject([from], 'private');
  const [source] = await listed(from);
  const [target] = await listed(to);
  const json = { source_topic_id: source?.id, target_topic_id: target?.id };
  const merged = await gantry.api('POST /topics/merge', { json });
  assert.deepEqual(
    [merged.status, merged.body.id, merged.body.total_projects_count],
    [201, target?.id, 2],
    merged.text,
  );
  assert.deepEqual(await listed(from), []);
  assert.equal((await gantry.api(`GET /projects/${both}`)).body.topics.length, 2);
  assert.deepEqual((await gantry.api(`GET /projects/${one}`)).body.topics, [to]);
  const same = await gantry.api('POST /topics/merge', { json: { ...json, source_topic_id: target?.id } });
  assert.deepEqual(
    [same.status, same.body.message],
    [400, 'The source topic and the target topic are identical.'],
  );
  assert.equal((await gantry.api('POST /topics/merge', { json })).status, 404);
});

test('counts projects exactly as topics, visibility and projects change', async () => {
  const [name, other] = [unique('counted'), unique('counted-other')];
  const total = async (): Promise<number[]> =>
    (await listed(name)).map((topic) => topic.total_projects_count);
  const first = await newProject([name, other]);
  const second = await newProject([name]);
  assert.deepEqual(await total(), [2]);
  await gantry.api(`PUT /projects/${second}`, { json: { visibility: 'private' } });
  assert.deepEqual(await total(), [2]);
  assert.deepEqual((await listed(name, null))[0]?.total_projects_count, 1);
  await gantry.api(`PUT /projects/${first}`, { json: { topics: [other] } });
  assert.deepEqual(await total(), [1]);
  assert.deepEqual(await listed(name, null), [], 'a private project alone has it');
  await gantry.api(`DELETE /projects/${second}`);
  await gantry.service.worker.drain();
  assert.deepEqual(await total(), [0]);
  await gantry.api(`PUT /projects/${first}`, { json: { topics: [] } });
  assert.deepEqual(await listed(other), [], 'nobody uses or described it');
});

test('hides topics of hidden projects from those who do not see them', async () => {
  const [member, stranger] = [await seedUser(gantry), await seedUser(gantry)];
  const external = await seedUser(gantry, { external: 1 });
  const [secret, inside] = [unique('secret'), unique('inside')];
  const project = await newProject([secret], 'private');
  await newProject([inside], 'internal');
  await seedMember(gantry, { user: member.id, project, access_level: 10 });
  const seen = (await listed(secret, member.token))[0];
  assert.deepEqual([seen?.name, seen?.total_projects_count], [secret, 1]);
  for (const as of [stranger.token, null]) {
    assert.deepEqual(await listed(secret, as), []);
    assert.equal((await gantry.api(`GET /topics/${seen?.id}`, { as })).status, 404);
  }
  assert.equal((await listed(inside, stranger.token)).length, 1);
  for (const as of [external.token, null]) assert.deepEqual(await listed(inside, as), []);
  const page = `/explore/projects/topics/${secret}`;
  assert.notEqual((await openVisitor(gantry).get(page)).status, 200);
  await gantry.api(`PUT /topics/${seen?.id}`, { json: { description: 'Known' } });
  const shown = (await listed(secret, stranger.token))[0];
  assert.deepEqual([shown?.name, shown?.total_projects_count], [secret, 0]);
  assert.equal((await listed(secret, stranger.token, '&without_projects=true')).length, 1);
  assert.deepEqual(await listed(secret, member.token, '&without_projects=true'), []);
});

test('counts right while many projects share topics at once', async () => {
  const names = Array.from({ length: 4 }, () => unique('shared'));
  const projects = await Promise.all(names.map(async () => (await seedProject(gantry)).id));
  const replies = await Promise.all(
    projects.map(
      async (id, at) =>
        await gantry.api(`PUT /projects/${id}`, {
          json: { topics: at % 2 === 0 ? names : names.toReversed() },
        }),
    ),
  );
  assert.deepEqual(
    replies.map(({ status }) => status),
    projects.map(() => 200),
  );
  for (const name of names) assert.equal((await listed(name))[0]?.total_projects_count, projects.length);
});

test('stores an avatar of a topic, and serves it to those who see the topic', async () => {
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg==',
    'base64',
  );
  const form = new FormData();
  form.set('name', unique('pictured'));
  form.set('avatar', new Blob([png]), 'a.png');
  const made = await fetch(`${gantry.url}/api/v4/topics`, {
    method: 'POST',
    headers: { 'private-token': rootToken },
    body: form,
  });
  const { avatar_url } = (await made.json()) as { avatar_url: string };
  assert.equal(made.status, 201);
  assert.match(avatar_url, /\/uploads\/-\/system\/projects\/topic\/avatar\/\d+\/[0-9a-f]{32}\.png$/);
  const shown = await fetch(avatar_url);
  assert.deepEqual([shown.status, Buffer.from(await shown.arrayBuffer())], [200, png]);
});

test('pages list topics and the projects of one, and projects link to them', async () => {
  const name = `${unique('c')}/c++ & <b>`;
  const project = await newProject([name]);
  const { path_with_namespace } = (await gantry.api(`GET /projects/${project}`)).body;
  const visitor = openVisitor(gantry);
  const path = `/explore/projects/topics/${encodeURIComponent(name)}`;
  const link = `href="${path.replaceAll('&', '&amp;')}"`;
  for (const at of [
    `/explore/projects/topics?search=${encodeURIComponent(name)}`,
    `/${path_with_namespace}`,
  ]) {
    const { status, text } = await visitor.get(at);
    assert.equal(status, 200, at);
    assert.ok(text.includes(link), at);
  }
  const { status, text } = await visitor.get(path);
  assert.equal(status, 200);
  assert.ok(text.includes(`href="/${path_with_namespace}"`));
  assert.equal(text.includes('<b>'), false);
  assert.notEqual((await visitor.get(`/explore/projects/topics/${unique('none')}`)).status, 200);
});
