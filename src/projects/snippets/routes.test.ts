import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const snippet = (overrides: object = {}) => ({
  title: 'Hello',
  content: 'puts 1',
  file_name: 'a.rb',
  ...overrides,
});
const add = async (path: string, as: string, overrides: object = {}) =>
  await gantry.api(`POST ${path}`, { as, json: snippet(overrides) });
const set = async (json: object): Promise<void> =>
  assert.equal((await gantry.api('PUT /application/settings', { json })).status, 200);

const places = [
  ['a user', async () => ({ path: '/snippets', web: 'snippets', token: (await seedUser(gantry)).token })],
  [
    'a project',
    async () => {
      const { id, token } = await seedUser(gantry);
      const project = await seedProject(gantry, { owner: id, visibility: 'private' });
      const path = `/projects/${project.id}/snippets`;
      return { path, web: `${project.full_path}/snippets`, token, project: project.id };
    },
  ],
] as const;

for (const [whose, make] of places) {
  test(`creates, reads, edits and deletes a snippet of ${whose}`, async () => {
    const { path, web, token, ...rest } = await make();
    const { status, body } = await add(path, token, { description: 'Why', visibility: 'internal' });
    assert.equal(status, 201);
    const web_url = `${gantry.url}/${web}/${body.id}`;
    assert.deepEqual(body, {
      id: body.id,
      title: 'Hello',
      file_name: 'a.rb',
      description: 'Why',
      visibility: 'internal',
      author: body.author,
      project_id: 'project' in rest ? rest.project : null,
      web_url,
      raw_url: `${web_url}/raw`,
      ssh_url_to_repo: null,
      http_url_to_repo: null,
      files: [{ path: 'a.rb', raw_url: `${web_url}/raw/main/a.rb` }],
      imported: false,
      imported_from: 'none',
      created_at: body.created_at,
      updated_at: body.updated_at,
    });
    const one = `${path}/${body.id}`;
    const as = token;
    assert.deepEqual((await gantry.api(`GET ${one}`, { as })).body, body);
    const list = await gantry.api(`GET ${path}`, { as });
    assert.deepEqual([list.body, list.headers.get('x-total')], [[body], '1']);
    const json = { title: ' Other ', content: 'puts 2', description: null, visibility: 'private' };
    const edited = await gantry.api(`PUT ${one}`, { as, json });
    assert.equal(edited.status, 200);
    assert.deepEqual(
      [edited.body.title, edited.body.description, edited.body.visibility, edited.body.file_name],
      ['Other', null, 'private', 'a.rb'],
    );
    assert.equal((await gantry.api(`GET ${one}/raw`, { as })).text, 'puts 2');
    assert.equal((await gantry.api(`PUT ${one}`, { as, json: { code: 'puts 3' } })).status, 200);
    assert.equal((await gantry.api(`GET ${one}/raw`, { as })).text, 'puts 3');
    assert.equal((await gantry.api(`DELETE ${one}`, { as })).status, 204);
    const gone = await gantry.api(`GET ${one}`, { as });
    assert.deepEqual([gone.status, gone.body], [404, { message: '404 Snippet Not Found' }]);
  });

  test(`accepts the text of a snippet of ${whose} as a list of one file`, async () => {
    const { path, token: as } = await make();
    const files = [{ file_path: 'b.rb', content: 'puts 4' }];
    const { status, body } = await gantry.api(`POST ${path}`, { as, json: { title: 'Hello', files } });
    assert.deepEqual([status, body.file_name], [201, 'b.rb']);
    const one = `${path}/${body.id}`;
    assert.equal((await gantry.api(`GET ${one}/raw`, { as })).text, 'puts 4');
    const changed = { files: [{ action: 'update', file_path: 'b.rb', content: 'puts 5' }] };
    assert.equal((await gantry.api(`PUT ${one}`, { as, json: changed })).status, 200);
    assert.equal((await gantry.api(`GET ${one}/raw`, { as })).text, 'puts 5');
    const form = 'title=Form&files[0][file_path]=c.rb&files[0][content]=puts 6';
    const formed = await gantry.api(`POST ${path}`, { as, form });
    assert.deepEqual([formed.status, formed.body.file_name], [201, 'c.rb']);
    assert.equal((await gantry.api(`GET ${one}/raw`, { as })).text, 'puts 5');
  });

  test(`never serves the text of a snippet of ${whose} as HTML`, async () => {
    const { path, token } = await make();
    const content = '<script>alert(1)</script> ☃';
    const { body } = await add(path, token, { content, file_name: 'a.html' });
    const { text, headers } = await gantry.api(`GET ${path}/${body.id}/raw`, { as: token });
    assert.equal(text, content);
    assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('content-security-policy'), "default-src 'none'; sandbox");
  });

  test(`shows administrators the user agent of a snippet of ${whose}`, async () => {
    const { path, token } = await make();
    const json = snippet();
    const headers = { 'user-agent': 'curl/8' };
    const { body } = await gantry.api(`POST ${path}`, { as: token, json, headers });
    const line = `GET ${path}/${body.id}/user_agent_detail`;
    const { status, body: detail } = await gantry.api(line);
    assert.deepEqual([status, detail.user_agent, detail.spam_check_submitted], [200, 'curl/8', false]);
    assert.match(detail.ip_address, /127\.0\.0\.1$/);
    assert.equal((await gantry.api(line, { as: token })).status, 403);
  });

  test(`names the errors of a snippet of ${whose}`, async () => {
    const { path, token } = await make();
    const cases: [object, unknown][] = [
      [{ title: undefined }, '400 (Bad request) "title" not given'],
      [{ content: undefined }, '400 (Bad request) "content" not given'],
      [{ title: ' ' }, { title: ["can't be blank"] }],
      [{ content: '\n' }, { content: ["can't be blank"] }],
      [{ title: 'x'.repeat(256) }, { title: ['is too long (maximum is 255 characters)'] }],
      [{ content: 'x'.repeat(1_048_577) }, { content: ['is too long (maximum is 1048576 characters)'] }],
      [
        { file_name: '../a' },
        { file_name: ["can contain only letters, digits, blanks, '_', '-', '@', '+' and '.'."] },
      ],
      [{ visibility: 'secret' }, { visibility: ['does not have a valid value'] }],
    ];
    for (const [input, message] of cases) {
      const { status, body } = await add(path, token, input);
      assert.deepEqual([status, body], [400, { message }]);
    }
    const { body } = await add(path, token);
    assert.equal((await gantry.api(`PUT ${path}/${body.id}`, { as: token, json: {} })).status, 400);
    const blank = await gantry.api(`PUT ${path}/${body.id}`, { as: token, json: { content: '' } });
    assert.deepEqual([blank.status, blank.body], [400, { message: { content: ["can't be blank"] } }]);
  });

  test(`a new snippet of ${whose} has the default visibility`, async () => {
    const { path, token } = await make();
    assert.equal((await add(path, token)).body.visibility, 'private');
    await set({ default_snippet_visibility: 'internal' });
    const { body } = await add(path, token);
    await set({ default_snippet_visibility: 'private' });
    assert.equal(body.visibility, 'internal');
  });

  test(`only administrators set a restricted visibility of a snippet of ${whose}`, async () => {
    const { path, token } = await make();
    const before = (await add(path, token, { visibility: 'public' })).body;
    await set({ restricted_visibility_levels: ['public'] });
    const refused = await add(path, token, { visibility: 'public' });
    const text = 'public has been restricted by your administrator';
    assert.deepEqual([refused.status, refused.body], [400, { message: { visibility_level: [text] } }]);
    const own = (await add(path, token)).body;
    const line = `PUT ${path}/${own.id}`;
    assert.equal((await gantry.api(line, { as: token, json: { visibility: 'public' } })).status, 400);
    assert.equal((await gantry.api(line, { json: { visibility: 'public' } })).status, 200);
    const old = await gantry.api(`PUT ${path}/${before.id}`, { as: token, json: { title: 'Old' } });
    await set({ restricted_visibility_levels: [] });
    assert.deepEqual([old.status, old.body.visibility], [200, 'public']);
  });
}

test('enforces the visibility of a personal snippet', async () => {
  const [author, other] = [await seedUser(gantry), await seedUser(gantry)];
  const external = await seedUser(gantry, { external: 1 });
  const seen = async (as: string | undefined, id: number): Promise<number> =>
    (await gantry.api(`GET /snippets/${id}`, as === undefined ? {} : { as })).status;
  const expected = {
    private: [200, 404, 404, 200],
    internal: [200, 200, 404, 200],
    public: [200, 200, 200, 200],
  };
  for (const [visibility, statuses] of Object.entries(expected)) {
    const { id } = (await add('/snippets', author.token, { visibility })).body;
    const viewers = [author.token, other.token, external.token, undefined];
    assert.deepEqual(await Promise.all(viewers.map((as) => seen(as, id))), statuses, visibility);
  }
  const all = async (as: string, path: string): Promise<string[]> =>
    (await gantry.api(`GET ${path}`, { as })).body.map((one: { visibility: string }) => one.visibility);
  assert.deepEqual(await all(author.token, '/snippets'), ['public', 'internal', 'private']);
  assert.deepEqual(await all(other.token, '/snippets'), []);
  const listed = await all(external.token, '/snippets/public?per_page=100');
  assert.ok(listed.length > 0 && listed.every((visibility) => visibility === 'public'));
});

test('only its author and administrators change a personal snippet', async () => {
  const [author, other] = [await seedUser(gantry), await seedUser(gantry)];
  const { id } = (await add('/snippets', author.token, { visibility: 'public' })).body;
  const json = { title: 'Other' };
  const status = async (method: string, as: string): Promise<number> =>
    (await gantry.api(`${method} /snippets/${id}`, { as, json })).status;
  assert.deepEqual([await status('PUT', other.token), await status('DELETE', other.token)], [403, 403]);
  assert.equal((await gantry.api(`PUT /snippets/${id}`, { json })).status, 200);
  assert.equal((await gantry.api(`DELETE /snippets/${id}`)).status, 204);
});

test('concurrent edits keep each other’s changes; one concurrent deletion succeeds', async () => {
  const { token: as } = await seedUser(gantry);
  const { id } = (await add('/snippets', as)).body;
  const edits = [{ title: 'T' }, { file_name: 'f' }, { content: 'c' }, { description: 'd' }];
  await Promise.all(edits.map((json) => gantry.api(`PUT /snippets/${id}`, { as, json })));
  const { body } = await gantry.api(`GET /snippets/${id}`, { as });
  assert.deepEqual([body.title, body.file_name, body.description], ['T', 'f', 'd']);
  assert.equal((await gantry.api(`GET /snippets/${id}/raw`, { as })).text, 'c');
  const gone = await Promise.all([1, 2, 3].map(() => gantry.api(`DELETE /snippets/${id}`, { as })));
  assert.deepEqual(
    gone.map(({ status }) => status).toSorted((a, b) => a - b),
    [204, 404, 404],
  );
});

test('refuses personal snippets of external users', async () => {
  const external = await seedUser(gantry, { external: 1 });
  assert.equal((await add('/snippets', external.token)).status, 403);
});

test('finds a project’s snippet only in its project', async () => {
  const [project, other] = [await seedProject(gantry), await seedProject(gantry)];
  const { token } = await seedUser(gantry, { admin: 1 });
  const { id } = (await add(`/projects/${project.id}/snippets`, token, { visibility: 'public' })).body;
  const personal = (await add('/snippets', token, { visibility: 'public' })).body.id;
  const wrong = [`/snippets/${id}`, `/projects/${other.id}/snippets/${id}`];
  wrong.push(`/projects/${project.id}/snippets/${personal}`);
  for (const path of wrong) {
    for (const line of [`GET ${path}`, `GET ${path}/raw`, `DELETE ${path}`]) {
      assert.equal((await gantry.api(line, { as: token })).status, 404, line);
    }
  }
});

test('enforces the access level of snippets', async () => {
  const [owner, member, other] = [await seedUser(gantry), await seedUser(gantry), await seedUser(gantry)];
  const { id } = await seedProject(gantry, { owner: owner.id });
  await seedMember(gantry, { user: member.id, project: id, access_level: 20 });
  const path = `/projects/${id}/snippets`;
  const made = (await add(path, member.token, { visibility: 'public' })).body;
  const statuses = async (): Promise<number[]> =>
    await Promise.all(
      [owner, member, other].map(
        async ({ token }) => (await gantry.api(`GET ${path}/${made.id}`, { as: token })).status,
      ),
    );
  const level = async (snippets_access_level: string): Promise<void> => {
    const json = { snippets_access_level };
    assert.equal((await gantry.api(`PUT /projects/${id}`, { json })).status, 200);
  };
  assert.deepEqual(await statuses(), [200, 200, 200]);
  await level('private');
  assert.deepEqual(await statuses(), [200, 200, 403]);
  await level('disabled');
  assert.deepEqual(await statuses(), [403, 403, 403]);
  assert.equal((await add(path, owner.token)).status, 403);
});

test('shows private snippets of a project to members only', async () => {
  const [guest, other] = [await seedUser(gantry), await seedUser(gantry)];
  const { id } = await seedProject(gantry);
  await seedMember(gantry, { user: guest.id, project: id, access_level: 10 });
  const path = `/projects/${id}/snippets`;
  for (const visibility of ['private', 'internal', 'public']) {
    assert.equal((await gantry.api(`POST ${path}`, { json: snippet({ visibility }) })).status, 201);
  }
  const seen = async (as: string): Promise<string[]> =>
    (await gantry.api(`GET ${path}`, { as })).body.map((one: { visibility: string }) => one.visibility);
  assert.deepEqual(await seen(guest.token), ['public', 'internal', 'private']);
  assert.deepEqual(await seen(other.token), ['public', 'internal']);
  assert.equal((await add(path, guest.token)).status, 403);
});

test('deletes snippets with their author and with their project', async () => {
  const [author, owner] = [await seedUser(gantry), await seedUser(gantry)];
  const { id: project } = await seedProject(gantry, { owner: owner.id });
  await seedMember(gantry, { user: author.id, project, access_level: 20 });
  const path = `/projects/${project}/snippets`;
  const own = (await add('/snippets', author.token)).body.id;
  const owned = (await add(path, author.token)).body.id;
  await add(path, owner.token);
  assert.equal((await gantry.api(`DELETE /users/${author.id}`)).status, 204);
  assert.equal((await gantry.api(`GET /snippets/${own}`)).status, 404);
  assert.equal((await gantry.api(`GET ${path}/${owned}`)).status, 404);
  await gantry.api(`DELETE /projects/${project}`);
  await gantry.service.worker.drain();
  const { db } = gantry.service.platform.store;
  const remaining = await db.selectFrom('snippets').select('id').where('project_id', '=', project).execute();
  assert.deepEqual(remaining, []);
});

test('administrators list all snippets', async () => {
  const user = await seedUser(gantry);
  const project = await seedProject(gantry, { owner: user.id, visibility: 'private' });
  const [own, inIt] = [
    await add('/snippets', user.token, { visibility: 'private' }),
    await add(`/projects/${project.id}/snippets`, user.token, { visibility: 'private' }),
  ];
  const { body, headers } = await gantry.api('GET /snippets/all?per_page=2');
  assert.deepEqual(
    body.map(({ id, project_id, web_url }: Record<string, unknown>) => [id, project_id, web_url]),
    [
      [inIt.body.id, project.id, `${gantry.url}/${project.full_path}/snippets/${inIt.body.id}`],
      [own.body.id, null, `${gantry.url}/snippets/${own.body.id}`],
    ],
  );
  const total = Number(headers.get('x-total'));
  assert.equal((await gantry.api('GET /snippets/all', { as: user.token })).status, 403);
  assert.equal((await gantry.api(`DELETE /projects/${project.id}`)).status, 202);
  const after = await gantry.api('GET /snippets/all');
  assert.equal(Number(after.headers.get('x-total')), total - 1);
});

test('filters snippets by time of creation', async () => {
  const user = await seedUser(gantry);
  const ids: number[] = [];
  for (const day of ['2030-01-01', '2030-01-02', '2030-01-03']) {
    gantry.setTime(Date.parse(day));
    ids.push((await add('/snippets', user.token, { visibility: 'public' })).body.id);
  }
  gantry.setTime(null);
  const [, second, third] = ids;
  const query = 'created_after=2030-01-02T00:00:00Z';
  for (const path of ['/snippets', '/snippets/public', '/snippets/all']) {
    const listed = async (filter: string): Promise<number[]> =>
      (await gantry.api(`GET ${path}?${filter}`, path.endsWith('all') ? {} : { as: user.token })).body.map(
        ({ id }: { id: number }) => id,
      );
    assert.deepEqual(await listed(query), [third, second], path);
    assert.deepEqual(await listed(`${query}&created_before=2030-01-02T00:00:00Z`), [second], path);
  }
});
