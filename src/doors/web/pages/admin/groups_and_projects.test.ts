import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { enqueue } from '../../../../platform/queue/enqueue.ts';
import { sampleKeys } from '../../../../../test/support/repositories/ssh_keys.ts';
import { seedGroup, seedMember, seedProject, unique } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let admin: Visitor;
let adminId: number;

before(async () => {
  gantry = await startTestService();
  ({ id: adminId, visitor: admin } = await seedVisitor(gantry, { admin: 1 }));
});
after(async () => await gantry.close());

const titlesIn = (text: string): string[] =>
  [...text.matchAll(/class="title" href="\/(?:groups\/)?([^"]+)"/g)].map(([, path = '']) => path);

test('lists all groups with their sizes', async () => {
  const word = unique('needle');
  const top = await seedGroup(gantry, { path: word, visibility: 'private' });
  const below = await seedGroup(gantry, { path: `${word}-below`, parent: top.id, visibility: 'public' });
  await seedProject(gantry, { namespace: top.id });
  await seedMember(gantry, { user: adminId, group: top.id, access_level: 30 });
  const listed = async (query: string) => titlesIn((await admin.get(`/admin/groups?${query}`)).text);
  assert.deepEqual(await listed(`search=${word}`), [below.full_path, top.full_path]);
  assert.deepEqual(await listed(`search=${word}&sort=oldest`), [top.full_path, below.full_path]);
  assert.deepEqual(await listed(`search=${word}&visibility=private`), [top.full_path]);
  assert.deepEqual(await listed(`search=${word}&per_page=1&page=2`), [top.full_path]);
  assert.match(
    (await admin.get(`/admin/groups?visibility=private&search=${word}`)).text,
    /1 project · \d+ members?/,
  );
  assert.equal((await admin.get('/admin/groups?sort=x')).status, 400);
});

test('lists all projects by visibility, storage and order', async () => {
  const word = unique('needle');
  const [open, closed, old] = [
    await seedProject(gantry, { path: `${word}-a`, visibility: 'public' }),
    await seedProject(gantry, { path: `${word}-b`, visibility: 'private' }),
    await seedProject(gantry, { path: `${word}-c`, visibility: 'internal', archived: 1 }),
  ];
  const listed = async (query: string) => {
    const { text } = await admin.get(`/admin/projects?search=${word}&${query}`);
    return titlesIn(text);
  };
  assert.deepEqual(await listed('sort=oldest'), [open.full_path, closed.full_path, old.full_path]);
  assert.deepEqual(await listed('filter=private'), [closed.full_path]);
  assert.deepEqual(await listed('filter=archived'), [old.full_path]);
  assert.deepEqual(await listed('storage=elsewhere'), []);
  assert.equal((await listed('storage=default')).length, 3);
  assert.equal((await admin.get('/admin/projects?filter=x')).status, 400);
});

/** The counts of the tabs of a list. */
const countsIn = (text: string): Record<string, number> =>
  Object.fromEntries(
    [...text.matchAll(/>(\w+) <span class="count">(\d+)</g)].map(([, name, count]) => [name, Number(count)]),
  );

test('the tabs of groups and projects have counts', async () => {
  const [groupsBefore, projectsBefore] = [
    countsIn((await admin.get('/admin/groups')).text),
    countsIn((await admin.get('/admin/projects')).text),
  ];
  const { id: namespace } = await seedGroup(gantry, { visibility: 'internal' });
  await seedProject(gantry, { namespace, visibility: 'internal', archived: 1 });
  const plus = (counts: Record<string, number>, names: readonly string[]) =>
    Object.fromEntries(
      Object.entries(counts).map(([name, count]) => [name, count + Number(names.includes(name))]),
    );
  assert.deepEqual(Object.keys(groupsBefore), ['All', 'Public', 'Internal', 'Private']);
  assert.deepEqual(
    countsIn((await admin.get('/admin/groups')).text),
    plus(groupsBefore, ['All', 'Internal']),
  );
  assert.deepEqual(
    countsIn((await admin.get('/admin/projects')).text),
    plus(projectsBefore, ['All', 'Internal', 'Archived']),
  );
});

test('lists the deploy keys of all projects, with the projects that have them', async () => {
  assert.match((await admin.get('/admin/deploy_keys')).text, /No deploy keys/);
  const [one, two] = [await seedProject(gantry), await seedProject(gantry, { visibility: 'private' })];
  const json = { title: 'Servers <b>', key: sampleKeys.ed25519.text, can_push: true };
  const { body } = await gantry.api(`POST /projects/${one.id}/deploy_keys`, { json });
  await gantry.api(`POST /projects/${two.id}/deploy_keys/${body.id}/enable`);
  const { text } = await admin.get('/admin/deploy_keys');
  assert.match(text, /1 deploy key</);
  assert.match(text, /Servers &lt;b&gt;[\s\S]*last used: Never/);
  assert.ok(text.includes(`href="/${one.full_path}/-/deploy_keys">${one.full_path}</a> (read and write)`));
  assert.ok(text.includes(`href="/${two.full_path}/-/deploy_keys">${two.full_path}</a> (read only)`));
});

test('shows where a project is stored and how large it is', async () => {
  const { body } = await gantry.api('POST /projects', { json: { name: unique('stored') } });
  const file = { branch: 'main', content: 'x', commit_message: 'Add a file' };
  assert.equal(
    (await gantry.api(`POST /projects/${body.id}/repository/files/a.txt`, { json: file })).status,
    201,
  );
  const { status, text } = await admin.get(`/admin/projects/${body.id}`);
  assert.equal(status, 200);
  assert.match(text, /<dt>Storage<\/dt><dd><a href="\/admin\/projects\?storage=default">default</);
  assert.match(text, /<code>@hashed\/[\da-f]{2}\/[\da-f]{2}\/[\da-f]{64}\.git<\/code>/);
  assert.match(text, /<dt>Commits<\/dt><dd>1<\/dd>/);
  assert.match(text, /<dt>Repository<\/dt><dd>\d+(?:\.\d)? (?:bytes|KiB)<\/dd>/);
  assert.equal((await admin.get('/admin/projects/999999999')).status, 404);
});

test('says when the storage of a project does not answer', async () => {
  const { id } = await seedProject(gantry);
  await gantry.service.platform.store.write(async ({ db }) => {
    await db.updateTable('projects').set({ repository_storage: 'gone' }).where('id', '=', id).execute();
  });
  const { status, text } = await admin.get(`/admin/projects/${id}`);
  assert.equal(status, 200);
  assert.match(text, /The repository storage is not available/);
});

const register = async (more: Record<string, string> = {}) =>
  await admin.post('/admin/applications', {
    name: 'Wiki',
    redirect_uri: 'https://wiki.example/callback',
    confidential: '1',
    trusted: '1',
    'scopes[]': 'read_user',
    ...more,
  });

test('registers an application of the instance, lists and deletes it', async () => {
  await admin.get('/admin/applications/new');
  const { status, text } = await register();
  assert.equal(status, 200);
  const [uid = '', secret = ''] = [...text.matchAll(/<code class="secret">([^<]+)</g)].map(
    ([, one = '']) => one,
  );
  assert.ok(uid.length === 64 && secret !== '');
  const [made] = (await gantry.api('GET /applications')).body;
  assert.deepEqual([made.application_id, made.application_name], [uid, 'Wiki']);
  const list = (await admin.get('/admin/applications')).text;
  assert.match(list, /Wiki<\/span><span class="badge">Instance-wide<\/span>.*Trusted/);
  assert.doesNotMatch(list, new RegExp(secret));
  assert.equal((await admin.post(`/admin/applications/${made.id}/delete`)).status, 303);
  assert.deepEqual((await gantry.api('GET /applications')).body, []);
  assert.equal((await admin.post(`/admin/applications/${made.id}/delete`)).status, 404);
});

test('shows the form of an application again with what is wrong', async () => {
  await admin.get('/admin/applications/new');
  const { status, text } = await register({ redirect_uri: 'javascript:alert(1)', name: '<b>Kept</b>' });
  assert.equal(status, 422);
  assert.match(text, /id="redirect_uri_error"/);
  assert.match(text, /value="&lt;b&gt;Kept/);
});

test('shows the health of all parts', async () => {
  const { status, text } = await admin.get('/admin/health');
  assert.equal(status, 200);
  for (const part of [
    'Service',
    'Database',
    'Data folder',
    'Artifacts and uploads',
    'Repository storage default',
    'Runners',
    'Background work',
    'Backups',
  ]) {
    const [section = ''] =
      new RegExp(`<section class="card"><header><h2>${part}</h2>[\\s\\S]*?</section>`).exec(text) ?? [];
    assert.match(section, /OK|Needs attention/, part);
  }
  assert.ok(text.includes(process.version));
  assert.match(text, /<dt>Engine<\/dt><dd>(?:SQLite|PostgreSQL)<\/dd>/);
  assert.match(text, /<dt>git<\/dt><dd>[^<]*\d+\.\d+/);
  assert.match(text, /<dt>Last verified backup<\/dt><dd>None/);
  assert.match(text, /<dt>Version<\/dt><dd>[^<]+<span[^>]*>[^<]+<\/span> <a href="\/help\/changelog">/);
  assert.match(
    text,
    /<code>gantry backup create --to PLACE --verify<\/code>[\s\S]*<code>gantry doctor<\/code>/,
  );
  assert.doesNotMatch(text, /Unavailable/);
  const at = Date.parse('2026-01-02T03:04:05Z');
  await gantry.service.platform.store.write(async ({ db }) => {
    const row = { name: 'nightly', destination: '/backups', holder: 'one', started_at: at, held_until: null };
    const result = { finished_at: at, verified_at: at, bytes: 1, error: null };
    await db
      .insertInto('backups')
      .values({ ...row, ...result })
      .execute();
  });
  assert.match(
    (await admin.get('/admin/health')).text,
    /<dt>Last verified backup<\/dt><dd><time datetime="2026-01-02T03:04:05/,
  );
  await gantry.service.platform.store.write(async ({ db }) => {
    await db.updateTable('backups').set({ error: 'the <disk> is full' }).execute();
  });
  const failed = (await admin.get('/admin/health')).text;
  assert.match(failed, /<h2>Backups<\/h2><span class="end"><span class="status wait">/);
  assert.match(failed, /<dd>the &lt;disk&gt; is full<\/dd>/);
  assert.match(failed, /<dt>Next backup<\/dt><dd>None scheduled/);
  assert.doesNotMatch(failed, /<dt>Running since/);
});

test('shows how far a running backup is, and when the next one is due', async () => {
  const { store, clock } = gantry.service.platform;
  const [now, due] = [clock.now(), Date.parse('2099-01-02T03:04:05Z')];
  await store.write(async (tx) => {
    const row = { name: 'running', destination: '/backups', holder: 'two', started_at: now };
    const none = { finished_at: null, verified_at: null, bytes: null, error: null };
    const part = { part: 'repositories checked', part_done: 3, part_total: 10, part_at: now };
    await tx.db
      .insertInto('backups')
      .values({ ...row, ...none, ...part, held_until: now + 60_000 })
      .execute();
    await enqueue(tx, 'backup.create', {}, { unique_key: 'backup.create', run_at: due });
  });
  const { text } = await admin.get('/admin/health');
  assert.match(text, /<dt>Running since<\/dt><dd><time datetime="\d{4}-/);
  assert.match(text, /<dt>Progress<\/dt><dd>repositories checked: 3 of 10<\/dd>/);
  assert.match(text, /<dt>Next backup<\/dt><dd><time datetime="2099-01-02T03:04:05/);
});
