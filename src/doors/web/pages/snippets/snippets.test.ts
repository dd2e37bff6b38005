/** Tests the pages of snippets, of projects and of users. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type SeededProject, seedProject, unique } from '../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: SeededProject;
let reporter: SeededVisitor;
let guest: SeededVisitor;
let stranger: SeededVisitor;
let list: string;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'public' });
  list = `/${project.full_path}/snippets`;
  reporter = await seedVisitor(gantry, { project: project.id, access_level: 20 });
  guest = await seedVisitor(gantry, { project: project.id, access_level: 10 });
  stranger = await seedVisitor(gantry);
});
after(async () => await gantry.close());

const [nameField, contentField] = ['files[0][file_path]', 'files[0][content]'] as const;

const text = {
  title: 'Fix <b>',
  description: '**Run** it',
  [nameField]: 'fix.sh',
  [contentField]: 'echo 1\r\necho "<i>"',
};

/** Fields of the stored files in the form of an edit. */
const storedFields = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name, at) => [
      [`files[${at}][stored]`, '1'],
      [`files[${at}][previous_path]`, name],
      [`files[${at}][file_path]`, name],
    ]),
  );

const create = async (at: string, by: SeededVisitor, overrides: object): Promise<string> => {
  await by.visitor.get(`${at}/new`);
  const { status, location } = await by.visitor.post(at, { ...text, ...overrides });
  assert.equal(status, 303);
  return location ?? '';
};

test('creates, shows, edits and deletes a snippet of a project', async () => {
  const path = await create(list, reporter, { visibility: 'public' });
  assert.match(path, new RegExp(`^${list}/\\d+$`));
  const id = Number(path.split('/').at(-1));
  const { body } = await gantry.api(`GET /projects/${project.id}/snippets/${id}`);
  assert.equal(body.web_url, gantry.url + path);
  const shown = await reporter.visitor.get(path);
  assert.match(shown.text, /<h1>Fix &lt;b&gt; [\s\S]+Public[\s\S]+<strong>Run<\/strong>[\s\S]+fix\.sh/);
  assert.match(shown.text, /id="L2"[\s\S]+echo/);
  assert.doesNotMatch(shown.text, /<i>/);
  const raw = await reporter.visitor.get(`${path}/raw`);
  assert.deepEqual(
    [raw.text, raw.headers.get('content-type')],
    ['echo 1\necho "<i>"', 'text/plain; charset=utf-8'],
  );
  assert.match(raw.headers.get('content-security-policy') ?? '', /sandbox/);
  assert.match((await reporter.visitor.get(list)).text, new RegExp(`1 snippet<[\\s\\S]+href="${path}"`));
  assert.match(
    (await reporter.visitor.get(`${path}/edit`)).text,
    /echo 1\necho &quot;&lt;i&gt;&quot;<\/textarea>/,
  );
  await reporter.visitor.post(path, {
    ...text,
    ...storedFields(['fix.sh']),
    title: 'Mended',
    visibility: 'private',
  });
  assert.match((await reporter.visitor.get(path)).text, /<h1>Mended [\s\S]+Private/);
  assert.equal((await reporter.visitor.post(`${path}/delete`)).status, 422);
  assert.equal((await reporter.visitor.post(`${path}/delete`, { confirmed: '1' })).location, list);
  assert.equal((await reporter.visitor.get(path)).status, 404);
});

test('the account menu and the palette open the snippets of signed-in users', async () => {
  const { text: own } = await stranger.visitor.get('/-/snippets');
  assert.match(own, /title="Account of [^]*?<a href="\/-\/snippets">[^]*? Your snippets<\/a>/);
  assert.match(own, /href="\/-\/snippets\?of=public"/);
  const isOffered = async (visitor: Visitor): Promise<boolean> =>
    (await visitor.get('/-/jump?q=snippets')).text
      .split('id="results"')[1]
      ?.includes('<a href="/-/snippets">') === true;
  assert.deepEqual([await isOffered(stranger.visitor), await isOffered(openVisitor(gantry))], [true, false]);
});

test('shows what is wrong, and keeps the input', async () => {
  await reporter.visitor.get(`${list}/new`);
  const bad = await reporter.visitor.post(list, {
    ...text,
    title: ' ',
    [nameField]: 'a/b',
    [contentField]: ' ',
  });
  assert.equal(bad.status, 422);
  assert.match(
    bad.text,
    /Title can&#39;t be blank[\s\S]+File name can contain only[\s\S]+Content can&#39;t be blank/,
  );
  assert.equal((await reporter.visitor.post(list, { ...text, visibility: 'x' })).status, 422);
});

test('hides private snippets of a project from those who are no members', async () => {
  const path = await create(list, reporter, { visibility: 'private', title: 'Hidden title' });
  assert.equal((await guest.visitor.get(path)).status, 200);
  const id = Number(path.split('/').at(-1));
  for (const below of ['', '/raw', '/edit']) {
    assert.equal((await stranger.visitor.get(path + below)).status, 404);
    assert.match((await openVisitor(gantry).get(path + below)).location ?? '', /^\/users\/sign_in/);
  }
  assert.equal((await stranger.visitor.get(`/snippets/${id}`)).status, 404);
  for (const visitor of [stranger.visitor, openVisitor(gantry)]) {
    const seen = await visitor.get(list);
    assert.doesNotMatch(seen.text, /Hidden title/);
    assert.ok(!seen.text.includes(`${list}/new`));
  }
  assert.equal((await guest.visitor.get(`${list}/new`)).status, 403);
  assert.equal((await guest.visitor.post(list, text)).status, 403);
  for (const below of ['', '/delete']) {
    assert.equal((await guest.visitor.post(path + below, { ...text, confirmed: '1' })).status, 403);
  }
  assert.doesNotMatch((await guest.visitor.get(path)).text, /\/edit"/);
});

test('hides snippets of hidden projects', async () => {
  const hidden = await seedProject(gantry, { visibility: 'private' });
  for (const address of [`/${hidden.full_path}/snippets`, `/${unique('no')}/${unique('no')}/snippets`]) {
    assert.equal((await stranger.visitor.get(address)).status, 404);
    assert.match((await openVisitor(gantry).get(address)).location ?? '', /^\/users\/sign_in/);
  }
});

test('has personal snippets, with the address that the API names', async () => {
  const open = await create('/-/snippets', stranger, { visibility: 'public', title: 'An open one' });
  const own = await create('/-/snippets', stranger, { visibility: 'private', title: 'Only mine' });
  assert.match(open, /^\/snippets\/\d+$/);
  const id = Number(open.split('/').at(-1));
  assert.equal((await gantry.api(`GET /snippets/${id}`)).body.web_url, gantry.url + open);
  assert.match((await stranger.visitor.get('/-/snippets')).text, /Only mine[\s\S]+An open one/);
  const others = await guest.visitor.get('/-/snippets?of=public');
  assert.match(others.text, /An open one/);
  assert.doesNotMatch(others.text, /Only mine/);
  assert.equal((await guest.visitor.get(own)).status, 404);
  assert.equal((await guest.visitor.get(`${open}/edit`)).status, 403);
  assert.equal((await stranger.visitor.get(`/-/snippets/${id}`)).location, open);
  assert.equal((await stranger.visitor.get('/snippets')).location, '/-/snippets');
  const anonymous = openVisitor(gantry);
  const seen = await anonymous.get(open);
  assert.equal(seen.status, 200);
  assert.doesNotMatch(seen.text, /method="post"|\/edit"/);
  assert.match((await anonymous.get('/-/snippets')).location ?? '', /^\/users\/sign_in/);
  assert.match((await anonymous.get('/-/snippets?of=public')).text, /An open one/);
  assert.equal((await anonymous.get(`${open}/raw`)).text, 'echo 1\necho "<i>"');
});

test('pages a long text', async () => {
  const content = Array.from({ length: 2_600 }, (_line, at) => `line ${at}`).join('\n');
  const path = await create('/-/snippets', stranger, {
    [contentField]: content,
    [nameField]: '',
    visibility: 'private',
  });
  const first = await stranger.visitor.get(path);
  assert.match(first.text, /id="L2500"[\s\S]+Page 1 of 2/);
  assert.doesNotMatch(first.text, /id="L2501"/);
  assert.match((await stranger.visitor.get(`${path}?page=2`)).text, /id="L2600"/);
});

test('creates, shows and edits a snippet with several files', async () => {
  const path = await create(list, reporter, {
    visibility: 'public',
    'files[1][file_path]': 'notes <b>.md',
    'files[1][content]': 'Second',
    'files[2][file_path]': '',
    'files[2][content]': '',
  }).catch(() => '');
  assert.equal(path, '');
  const made = await create(list, reporter, {
    visibility: 'public',
    'files[1][file_path]': 'notes.md',
    'files[1][content]': 'Second',
    'files[2][file_path]': '',
    'files[2][content]': '',
  });
  const shown = await reporter.visitor.get(made);
  assert.match(shown.text, /<h2 id="file_1">fix\.sh<[\s\S]+<h2 id="file_2">notes\.md<[\s\S]+Second/);
  assert.match(shown.text, /<tr id="file_2_L1">/);
  assert.equal((await reporter.visitor.get(`${made}/raw/main/notes.md`)).text, 'Second');
  assert.equal((await reporter.visitor.get(`${made}/raw/main/none.md`)).status, 404);
  assert.equal((await reporter.visitor.get(`${made}/raw/topic/notes.md`)).status, 404);
  const stored = storedFields(['fix.sh', 'notes.md']);
  const edit = {
    ...text,
    ...stored,
    'files[0][remove]': '1',
    'files[1][file_path]': 'renamed.md',
    'files[1][content]': 'Changed',
    'files[2][file_path]': 'third.txt',
    'files[2][content]': ' ',
    visibility: 'public',
  };
  const refused = await reporter.visitor.post(made, edit);
  assert.equal(refused.status, 422);
  assert.match(refused.text, /id="files_2_content_"[^>]*aria-invalid[\s\S]+Content can&#39;t be blank/);
  assert.match(refused.text, /name="files\[0\]\[remove\]"[^>]* checked/);
  assert.equal((await reporter.visitor.post(made, { ...edit, 'files[2][content]': 'Third' })).status, 303);
  const id = Number(made.split('/').at(-1));
  const { body } = await gantry.api(`GET /projects/${project.id}/snippets/${id}`);
  assert.deepEqual(
    body.files.map((file: { path: string }) => file.path),
    ['renamed.md', 'third.txt'],
  );
  assert.equal((await reporter.visitor.get(`${made}/raw/main/renamed.md`)).text, 'Changed');
});

test('shows what somebody saved meanwhile instead of overwriting it', async () => {
  const path = await create(list, reporter, {
    visibility: 'public',
    'files[1][file_path]': 'notes.md',
    'files[1][content]': 'Second',
  });
  const baseIn = (page: string): string => /name="base" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const base = baseIn((await reporter.visitor.get(`${path}/edit`)).text);
  const api = `/projects/${project.id}/snippets/${path.split('/').at(-1)}`;
  const files = [
    { action: 'update', file_path: 'fix.sh', content: 'echo <theirs>' },
    { action: 'delete', file_path: 'notes.md' },
  ];
  assert.equal((await gantry.api(`PUT ${api}`, { json: { files } })).status, 200);
  const sent = {
    ...text,
    ...storedFields(['fix.sh', 'notes.md']),
    [contentField]: 'echo mine',
    'files[1][content]': 'Second',
    visibility: 'public',
  };
  const refused = await reporter.visitor.post(path, { ...sent, base });
  assert.equal(refused.status, 422);
  assert.match(refused.text, /Somebody edited this snippet meanwhile[^]+>\s*echo mine<\/textarea>/);
  const card = /Saved meanwhile[^]+?<\/section>/.exec(refused.text)?.[0] ?? '';
  assert.match(card, /<h3>fix\.sh<\/h3>[^]*echo &lt;theirs&gt;[^]*<h3>notes\.md<\/h3>[^]*None/);
  assert.doesNotMatch(card, /<h3>Title/);
  assert.match(refused.text, /Overwrite with my version/);
  assert.doesNotMatch(refused.text, /value="notes\.md"[^>]*name="files\[1\]\[previous_path\]"/);
  assert.equal((await gantry.api(`GET ${api}/raw`)).text, 'echo <theirs>');
  // Of the removed file, the form is one of a new file now.
  const again = { ...sent, 'files[1][stored]': '0' };
  const saved = await reporter.visitor.post(path, { ...again, base: baseIn(refused.text) });
  assert.equal(saved.status, 303, saved.text);
  const { body } = await gantry.api(`GET ${api}`);
  assert.deepEqual(
    body.files.map((file: { path: string }) => file.path),
    ['fix.sh', 'notes.md'],
  );
  assert.equal((await gantry.api(`GET ${api}/raw`)).text, 'echo mine');
});

test('saves an edit that is sent twice', async () => {
  const path = await create(list, reporter, {
    visibility: 'public',
    'files[1][file_path]': 'notes.md',
    'files[1][content]': 'Second',
  });
  const base = /name="base" value="([^"]+)"/.exec((await reporter.visitor.get(`${path}/edit`)).text)?.[1];
  const sent = {
    ...text,
    ...storedFields(['fix.sh', 'notes.md']),
    'files[0][remove]': '1',
    'files[1][file_path]': 'renamed.md',
    'files[1][content]': 'Second\r\nline',
    'files[2][file_path]': 'new.txt',
    'files[2][content]': 'New',
    visibility: 'public',
    base: base ?? '',
  };
  for (const time of ['first', 'second']) {
    const saved = await reporter.visitor.post(path, sent);
    assert.equal(saved.status, 303, `${time}: ${saved.text}`);
  }
  const { body } = await gantry.api(`GET /projects/${project.id}/snippets/${path.split('/').at(-1)}`);
  assert.deepEqual(
    body.files.map((file: { path: string }) => file.path),
    ['renamed.md', 'new.txt'],
  );
});

test('pages each of several long files', async () => {
  const lines = (name: string) => Array.from({ length: 2_600 }, (_line, at) => `${name} ${at}`).join('\n');
  const path = await create('/-/snippets', stranger, {
    [nameField]: 'a.txt',
    [contentField]: lines('a'),
    'files[1][file_path]': 'b.txt',
    'files[1][content]': lines('b'),
    visibility: 'private',
  });
  const second = await stranger.visitor.get(`${path}?file=b.txt&page=2`);
  assert.match(second.text, /id="file_1_L1"[\s\S]+file=a\.txt&amp;page=2[\s\S]+id="file_2_L2600"/);
});

test('shows comments on a snippet of a project, with forms for those who may comment', async () => {
  const path = await create(list, reporter, { visibility: 'public', title: 'Discussed' });
  const id = Number(path.split('/').at(-1));
  const added = await stranger.visitor.post(`${path}/notes`, { body: 'A **bold** word', intent: 'comment' });
  assert.match(added.location ?? '', new RegExp(`^${path}#note_\\d+$`));
  const noteId = Number(added.location?.split('_').at(-1));
  await reporter.visitor.post(`${path}/notes`, { body: 'A thread', intent: 'thread' });
  const notes = `/projects/${project.id}/snippets/${id}/notes`;
  assert.equal((await gantry.api(`GET ${notes}`)).body.length, 2);
  const shown = await stranger.visitor.get(path);
  assert.match(shown.text, /<h2>Comments<\/h2>[\s\S]+A <strong>bold<\/strong> word[\s\S]+A thread/);
  assert.doesNotMatch(shown.text, /Resolve thread|activity_filter|Close snippet/);
  const refused = await stranger.visitor.post(`${path}/notes`, { body: ' ', intent: 'comment' });
  assert.equal(refused.status, 422);
  assert.equal((await stranger.visitor.post(`${path}/notes`, { body: 'x', intent: 'close' })).status, 403);
  assert.equal((await reporter.visitor.get(`${path}/notes/${noteId}/edit`)).status, 403);
  const edit = await stranger.visitor.get(`${path}/notes/${noteId}/edit`);
  assert.match(edit.text, new RegExp(`Edit a comment on \\$${id}[\\s\\S]+A \\*\\*bold`));
  await stranger.visitor.post(`${path}/notes/${noteId}`, { body: 'Changed' });
  assert.equal((await gantry.api(`GET ${notes}/${noteId}`)).body.body, 'Changed');
  assert.match((await reporter.visitor.get(`${path}/notes/${noteId}/quote`)).text, /&gt; Changed/);
  await stranger.visitor.post(`${path}/award_emoji`, { name: 'heart' });
  await stranger.visitor.post(`${path}/award_emoji`, { name: 'tada', note_id: String(noteId) });
  assert.match((await stranger.visitor.get(path)).text, /heart: 1, including yours[\s\S]+tada: 1/);
  await stranger.visitor.post(`${path}/notes/${noteId}/delete`);
  assert.equal((await gantry.api(`GET ${notes}/${noteId}`)).status, 404);
  const anonymous = await openVisitor(gantry).get(path);
  assert.match(anonymous.text, /A thread[\s\S]+Sign in<\/a> to comment/);
  const hidden = await create(list, reporter, { visibility: 'private' });
  assert.equal((await stranger.visitor.post(`${hidden}/notes`, { body: 'x' })).status, 404);
  const own = await create('/-/snippets', stranger, { visibility: 'public' });
  assert.doesNotMatch((await stranger.visitor.get(own)).text, /Comments/);
});

test('refuses texts that the API refuses, too', async () => {
  await reporter.visitor.get(`${list}/new`);
  const invalid = [
    { [contentField]: 'a\0b' },
    { [contentField]: 'x'.repeat(1_048_577) },
    { [nameField]: '..' },
    { [nameField]: '.' },
  ];
  for (const fields of invalid) {
    const { status, text: shown } = await reporter.visitor.post(list, { ...text, ...fields });
    assert.deepEqual(
      [status, /class="(?:flash alert|error)"/.test(shown)],
      [422, true],
      JSON.stringify(fields).slice(0, 80),
    );
  }
});

test('a file takes the name of another one that is removed', async () => {
  const second = { 'files[1][file_path]': 'two.sh', 'files[1][content]': '2' };
  const path = await create(list, reporter, second);
  await reporter.visitor.get(`${path}/edit`);
  const { status } = await reporter.visitor.post(path, {
    ...storedFields(['fix.sh', 'two.sh']),
    title: 'Renamed',
    [nameField]: 'two.sh',
    [contentField]: '1',
    'files[1][content]': '2',
    'files[1][remove]': '1',
  });
  assert.equal(status, 303);
  const { body } = await gantry.api(`GET /projects/${project.id}/snippets/${path.split('/').at(-1)}`);
  assert.deepEqual(
    body.files.map((file: { path: string }) => file.path),
    ['two.sh'],
  );
});

test('lists are searched by title and file name, of the snippets that the visitor sees', async () => {
  const word = unique('found');
  const byTitle = await create(list, reporter, { title: `The ${word} <b>`, visibility: 'public' });
  const byFile = await create(list, reporter, { [nameField]: `${word}.ts`, visibility: 'public' });
  const hidden = await create(list, reporter, { title: word, visibility: 'private' });
  const own = await create('/-/snippets', reporter, { title: word, visibility: 'public' });
  const read = async (at: string, by = reporter): Promise<string[]> => {
    const { status, text: page } = await by.visitor.get(at);
    assert.equal(status, 200, at);
    return [...page.matchAll(/class="title" href="([^"]+)"/g)].map(([, href = '']) => href);
  };
  const upper = word.toUpperCase();
  assert.deepEqual(await read(`${list}?search=${upper}`), [hidden, byFile, byTitle]);
  assert.deepEqual(await read(`${list}?search=${upper}`, stranger), [byFile, byTitle]);
  assert.deepEqual(await read(`/-/snippets?search=+${word}+`), [own]);
  assert.deepEqual(await read(`/-/snippets?of=public&search=${word}`, stranger), [own]);
  const { text: none } = await reporter.visitor.get(`${list}?search=${unique('no')}`);
  assert.match(none, /No results/);
  const { text: both } = await reporter.visitor.get(`/-/snippets?search=${word}`);
  assert.match(both, new RegExp(`name="search" value="${word}"`));
  assert.ok(both.includes(`of=public&amp;search=${word}"`));
});
