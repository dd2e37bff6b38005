/** Snippets with several files, of users and of projects. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

type File = { file_path?: string; previous_path?: string; content?: string; action?: string };

const files: File[] = [
  { file_path: 'a.rb', content: 'puts 1' },
  { file_path: 'b c.md', content: '# Two' },
];

const places = [
  ['a user', async () => ({ path: '/snippets', token: (await seedUser(gantry)).token })],
  [
    'a project',
    async () => {
      const { id, token } = await seedUser(gantry);
      const project = await seedProject(gantry, { owner: id, visibility: 'private' });
      return { path: `/projects/${project.id}/snippets`, token };
    },
  ],
] as const;

for (const [whose, make] of places) {
  const start = async (first: File[] = files) => {
    const { path, token: as } = await make();
    const made = await gantry.api(`POST ${path}`, { as, json: { title: 'Several', files: first } });
    assert.equal(made.status, 201, made.text);
    const one = `${path}/${made.body.id}`;
    const raw = async (file: string, ref = 'main') =>
      await gantry.api(`GET ${one}/files/${ref}/${encodeURIComponent(file)}/raw`, { as });
    return {
      path,
      as,
      one,
      body: made.body,
      raw,
      edit: async (changes: unknown) => await gantry.api(`PUT ${one}`, { as, json: { files: changes } }),
      read: async (): Promise<[string, string][]> => {
        const { body } = await gantry.api(`GET ${one}`, { as });
        const paths: string[] = body.files.map((file: { path: string }) => file.path);
        return await Promise.all(paths.map(async (file) => [file, (await raw(file)).text]));
      },
    };
  };

  test(`a snippet of ${whose} has several files`, async () => {
    const { path, as, one, body, raw } = await start();
    const { web_url } = body;
    assert.equal(body.file_name, 'a.rb');
    assert.deepEqual(body.files, [
      { path: 'a.rb', raw_url: `${web_url}/raw/main/a.rb` },
      { path: 'b c.md', raw_url: `${web_url}/raw/main/b%20c.md` },
    ]);
    assert.deepEqual((await gantry.api(`GET ${one}`, { as })).body, body);
    assert.deepEqual((await gantry.api(`GET ${path}`, { as })).body, [body]);
    assert.equal((await gantry.api(`GET ${one}/raw`, { as })).text, 'puts 1');
    const second = await raw('b c.md');
    assert.deepEqual([second.status, second.text], [200, '# Two']);
    assert.equal(second.headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.match(second.headers.get('content-security-policy') ?? '', /sandbox/);
    assert.equal((await raw('a.rb', 'HEAD')).text, 'puts 1');
    for (const [file, ref] of [
      ['c.rb', 'main'],
      ['a.rb', 'topic'],
    ] as const)
      assert.equal((await raw(file, ref)).status, 404);
    const stranger = await seedUser(gantry);
    const hidden = await gantry.api(`GET ${one}/files/main/a.rb/raw`, { as: stranger.token });
    assert.equal(hidden.status, 404);
  });

  test(`files of a snippet of ${whose} are created, updated, moved and deleted`, async () => {
    const { edit, read, one, as } = await start();
    const changed = await edit([
      { action: 'create', file_path: 'c.txt', content: 'three' },
      { action: 'update', file_path: 'b c.md', content: '# Other' },
      { action: 'move', previous_path: 'a.rb', file_path: 'z.rb' },
    ]);
    assert.equal(changed.status, 200, changed.text);
    assert.deepEqual(await read(), [
      ['z.rb', 'puts 1'],
      ['b c.md', '# Other'],
      ['c.txt', 'three'],
    ]);
    // The first file is another one when it is deleted.
    await edit([
      { action: 'delete', file_path: 'z.rb' },
      { action: 'move', previous_path: 'c.txt', file_path: 'd.txt', content: 'four' },
    ]);
    assert.deepEqual(await read(), [
      ['b c.md', '# Other'],
      ['d.txt', 'four'],
    ]);
    assert.equal((await gantry.api(`GET ${one}`, { as })).body.file_name, 'b c.md');
    // Without an action, a file is created or updated.
    await edit([
      { file_path: 'd.txt', content: 'five' },
      { file_path: 'e.txt', content: 'six' },
    ]);
    assert.deepEqual((await read()).slice(1), [
      ['d.txt', 'five'],
      ['e.txt', 'six'],
    ]);
  });

  test(`an edit of files of a snippet of ${whose} is made whole or not at all`, async () => {
    const { edit, read, one, as } = await start();
    const stored = await read();
    const long = 'x'.repeat(1_048_577);
    const cases: [unknown, RegExp][] = [
      [
        [
          { action: 'update', file_path: 'b c.md', content: 'x' },
          { action: 'update', file_path: 'no', content: 'x' },
        ],
        /files name a file that does not exist: no/,
      ],
      [[{ action: 'create', file_path: 'a.rb', content: 'x' }], /files use a path twice: a\.rb/],
      [[{ action: 'move', previous_path: 'a.rb', file_path: 'b c.md' }], /files use a path twice: b c\.md/],
      [
        [
          { action: 'delete', file_path: 'a.rb' },
          { action: 'delete', file_path: 'b c.md' },
        ],
        /must be at least one/,
      ],
      [[{ action: 'create', file_path: 'x' }], /\[content\] not given/],
      [[{ action: 'update', file_path: 'a.rb' }], /\[content\] not given/],
      [[{ action: 'delete' }], /\[file_path\] not given/],
      [[{ action: 'move', file_path: 'x' }], /\[previous_path\] not given/],
      [[{ action: 'chmod', file_path: 'a.rb' }], /\[action\] is invalid/],
      [[{ file_path: 'x', content: ' ' }], /files\[2\]\[content\].+can't be blank/],
      [[{ file_path: '../x', content: 'x' }], /files\[2\]\[file_path\].+can contain only/],
      [[{ file_path: 'x', content: long }], /\[content\].+is too long/],
      [[{ content: 1 }], /\[content\] is invalid/],
      [
        Array.from({ length: 9 }, (_one, at) => ({ file_path: `f${at}`, content: 'x' })),
        /maximum is 10 files/,
      ],
      [Array.from({ length: 31 }, () => ({ file_path: 'x', content: 'x' })), /are too many/],
      [['x'], /is invalid/],
      ['x', /is invalid/],
      [[], /is empty/],
    ];
    for (const [changes, message] of cases) {
      const { status, text } = await edit(changes);
      assert.equal(status, 400, text);
      assert.match(text, message);
    }
    for (const json of [{ content: 'x' }, { file_name: 'x' }, { files, content: 'x' }]) {
      const { status, text } = await gantry.api(`PUT ${one}`, { as, json });
      assert.equal(status, 400, text);
    }
    assert.deepEqual(await read(), stored);
    const { status, body } = await gantry.api(`PUT ${one}`, { as, json: { title: 'Other' } });
    assert.deepEqual([status, body.title], [200, 'Other']);
  });

  test(`files of a snippet of ${whose} without names get some`, async () => {
    const { read, edit } = await start([{ content: 'one' }, { content: 'two' }]);
    assert.deepEqual(await read(), [
      ['snippetfile1.txt', 'one'],
      ['snippetfile2.txt', 'two'],
    ]);
    await edit([{ action: 'create', content: 'three' }]);
    assert.deepEqual((await read())[2], ['snippetfile3.txt', 'three']);
  });
}

test('accepts files of a form', async () => {
  const { token: as } = await seedUser(gantry);
  const form = ['a', 'b'].map((name, at) => `files[${at}][file_path]=${name}&files[${at}][content]=${name}!`);
  const { status, body } = await gantry.api('POST /snippets', { as, form: `title=Form&${form.join('&')}` });
  assert.deepEqual([status, body.files.length], [201, 2]);
});

test('a snippet of an earlier release gets further files', async () => {
  const { token: as, id: author_id } = await seedUser(gantry);
  const row = {
    project_id: null,
    author_id,
    title: 'Old',
    file_name: '',
    content: 'old text',
    description: null,
    visibility: 'private' as const,
    user_agent: '',
    ip_address: '',
    created_at: 1,
    updated_at: 1,
  };
  const { id } = await gantry.service.platform.store.write(
    async ({ db }) => await db.insertInto('snippets').values(row).returning('id').executeTakeFirstOrThrow(),
  );
  const one = `/snippets/${id}`;
  const old = (await gantry.api(`GET ${one}`, { as })).body;
  assert.deepEqual(old.files, [{ path: '', raw_url: `${gantry.url}/snippets/${id}/raw` }]);
  const json = { files: [{ action: 'create', file_path: 'new.txt', content: 'new text' }] };
  const { body } = await gantry.api(`PUT ${one}`, { as, json });
  assert.deepEqual(
    body.files.map((file: { path: string }) => file.path),
    ['snippetfile1.txt', 'new.txt'],
  );
  assert.equal((await gantry.api(`GET ${one}/files/main/snippetfile1.txt/raw`, { as })).text, 'old text');
});

test('simultaneous changes of the files of a snippet are all kept', async () => {
  const { token: as } = await seedUser(gantry);
  const { id } = (await gantry.api('POST /snippets', { as, json: { title: 'Several', files } })).body;
  const names = ['c', 'd', 'e', 'f'];
  const statuses = await Promise.all(
    names.map(async (file_path) => {
      const json = { files: [{ action: 'create', file_path, content: file_path }] };
      return (await gantry.api(`PUT /snippets/${id}`, { as, json })).status;
    }),
  );
  assert.deepEqual(statuses, [200, 200, 200, 200]);
  const { body } = await gantry.api(`GET /snippets/${id}`, { as });
  assert.deepEqual(body.files.map(({ path }: { path: string }) => path).toSorted(), [
    'a.rb',
    'b c.md',
    ...names,
  ]);
});

test('search finds a snippet by the name of each of its files', async () => {
  const { token: as } = await seedUser(gantry);
  const several = [...files, { file_path: 'needle_in_file.go', content: 'x' }];
  const { id } = (await gantry.api('POST /snippets', { as, json: { title: 'Several', files: several } }))
    .body;
  const found = await gantry.api('GET /search?scope=snippet_titles&search=needle_in', { as });
  assert.deepEqual(
    found.body.map((one: { id: number; files: unknown[] }) => [one.id, one.files.length]),
    [[id, 3]],
  );
});

test('deletes the files with their snippet', async () => {
  const { token: as } = await seedUser(gantry);
  const { id } = (await gantry.api('POST /snippets', { as, json: { title: 'Several', files } })).body;
  const { db } = gantry.service.platform.store;
  const count = async (): Promise<number> =>
    (await db.selectFrom('snippet_files').select('id').where('snippet_id', '=', id).execute()).length;
  assert.equal(await count(), 1);
  assert.equal((await gantry.api(`DELETE /snippets/${id}`, { as })).status, 204);
  assert.equal(await count(), 0);
});
