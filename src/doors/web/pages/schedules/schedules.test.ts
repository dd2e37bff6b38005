/** Tests the pages of a project's schedules. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { settle } from '../../../../../test/support/seed_merge_requests.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let owner: Visitor;
let developer: Visitor;
let other: Visitor;
let path: string;

const someone = async (level: number, name = 'A User'): Promise<Visitor> =>
  (await seedVisitor(gantry, { name, project: project.id, access_level: level })).visitor;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  path = `/${project.full_path}/-/pipeline_schedules`;
  [owner, developer, other] = [await someone(40), await someone(30, 'Dev <b>'), await someone(30)];
  await seedCommit(gantry, project.id, { '.gitlab-ci.yml': 'one: { script: x }' });
  await seedCommit(gantry, project.id, { '.gitlab-ci.yml': 'one: { script: x }' }, { branch: 'topic' });
  await settle(gantry);
});
after(async () => await gantry.close());

const all = async () => (await gantry.api(`GET /projects/${project.id}/pipeline_schedules`)).body;
const one = async (id: number) =>
  (await gantry.api(`GET /projects/${project.id}/pipeline_schedules/${id}`)).body;

const form = {
  description: 'nightly <i>',
  ref: 'topic',
  cron: '0 4 * * *',
  cron_timezone: 'Europe/Berlin',
  active: '1',
};

const added = async (who = developer): Promise<number> => {
  await who.get(path);
  const { status, location } = await who.post(path, form);
  assert.deepEqual([status, location], [303, path]);
  return (await all()).at(-1).id;
};

test('adds, lists and deactivates a schedule', async () => {
  const id = await added();
  const { text } = await developer.get(path);
  assert.match(
    text,
    /nightly &lt;i&gt;[\s\S]+<code>0 4 \* \* \*<\/code>[\s\S]+Europe\/Berlin[\s\S]+<time[\s\S]+Dev &lt;b&gt;/,
  );
  const { next_run_at, ...made } = await one(id);
  assert.deepEqual(
    [made.cron_timezone, made.active, made.ref, typeof next_run_at],
    ['Europe/Berlin', true, 'topic', 'string'],
  );
  await developer.get(`${path}/${id}`);
  await developer.post(`${path}/${id}`, { ...form, description: 'weekly', cron: '0 4 * * 1', active: '0' });
  const changed = await one(id);
  assert.deepEqual([changed.description, changed.cron, changed.active], ['weekly', '0 4 * * 1', false]);
  assert.match((await developer.get(`${path}?scope=inactive`)).text, /weekly[\s\S]+Inactive/);
  assert.doesNotMatch((await developer.get(`${path}?scope=active`)).text, />weekly</);
  assert.equal((await developer.post(`${path}/${id}/delete`)).location, path);
  assert.equal((await all()).length, 0);
});

test('shows problems, and keeps the input', async () => {
  await developer.get(path);
  const bad = await developer.post(path, {
    ...form,
    cron: 'often',
    cron_timezone: 'Nowhere',
    description: '',
  });
  assert.equal(bad.status, 422);
  assert.match(
    bad.text,
    /Description can&#39;t be blank[\s\S]+When is invalid syntax[\s\S]+Time zone is invalid syntax/,
  );
  assert.match(bad.text, /value="often"/);
  const long = await developer.post(path, { ...form, description: 'x'.repeat(300) });
  assert.deepEqual([long.status, /Description is too long/.test(long.text)], [422, true]);
  const box = (checked: boolean) =>
    new RegExp(`name="active" type="checkbox" value="1"${checked ? ' checked' : ''}>`);
  assert.match(long.text, box(true));
  const paused = await developer.post(path, { ...form, description: 'x'.repeat(300), active: '0' });
  assert.match(paused.text, box(false));
  // Developers cannot run pipelines on the default branch, which is protected.
  assert.equal((await developer.post(path, { ...form, ref: 'main' })).status, 403);
  assert.equal((await all()).length, 0);
  const id = await added();
  const edit = await developer.post(`${path}/${id}`, { ...form, cron: '* * *' });
  assert.deepEqual([edit.status, /When is invalid syntax/.test(edit.text)], [422, true]);
  assert.equal((await one(id)).cron, form.cron);
});

test('a form with invalid fields keeps all that was sent', async () => {
  const id = await added();
  const page = `${path}/${id}`;
  await developer.get(page);
  const long = 'x'.repeat(300);
  const edit = await developer.post(page, { ...form, preset: 'weekly', description: long, active: '0' });
  assert.equal(edit.status, 422);
  assert.match(edit.text, /Description is too long/);
  assert.match(edit.text, /value="x{300}"[\s\S]+value="topic"[\s\S]+value="weekly" checked/);
  assert.match(edit.text, /name="active" type="checkbox" value="1">/);
  const add = await developer.post(`${page}/variables`, {
    key: long,
    value: 'typed<',
    variable_type: 'file',
    raw: '1',
  });
  assert.equal(add.status, 422);
  assert.match(add.text, /Key is too long/);
  assert.match(add.text, /value="x{300}"[\s\S]+>\ntyped&lt;<\/textarea>[\s\S]+value="file" selected/);
  assert.match(add.text, /name="raw" type="checkbox" value="1" checked/);
  await developer.post(`${page}/variables`, { key: 'KEPT', value: 'before' });
  const save = await developer.post(`${page}/variables/edit`, { key: 'KEPT', value: 'y'.repeat(1_048_577) });
  assert.equal(save.status, 422);
  assert.match(save.text, /Value of KEPT is too long[\s\S]*KEPT/);
  assert.match(save.text, /<details open>[\s\S]+>\ny{1000}/);
  await developer.post(`${page}/delete`);
});

test('offers patterns to choose from, without a script', async () => {
  const { text } = await developer.get(path);
  for (const label of ['Every day', 'Every week', 'Every month', 'Custom'])
    assert.match(text, new RegExp(`type="radio"[^>]*>\\s*<label for="preset_\\w+">${label}</label>`));
  assert.match(text, /type="radio" value="daily" checked/);
  const cronOf = async (sent: Record<string, string>): Promise<string> => {
    const answer = await developer.post(path, { ...form, ...sent });
    assert.equal(answer.status, 303, answer.text.slice(0, 200));
    const { id, cron } = (await all()).at(-1);
    const edit = (await developer.get(`${path}/${id}`)).text;
    const [, chosen] = /type="radio" value="(\w+)" checked/.exec(edit) ?? [];
    await developer.post(`${path}/${id}/delete`);
    return `${chosen}: ${cron}`;
  };
  assert.equal(await cronOf({ preset: 'weekly' }), 'weekly: 0 4 * * 0');
  assert.equal(await cronOf({ preset: 'monthly', cron: 'nonsense' }), 'monthly: 0 4 1 * *');
  assert.equal(await cronOf({ preset: 'custom', cron: '7 5 * * *' }), 'custom: 7 5 * * *');
  const refused = await developer.post(path, { ...form, preset: 'monthly', description: '', active: '0' });
  assert.equal(refused.status, 422);
  assert.match(refused.text, /type="radio" value="monthly" checked/);
  assert.match(refused.text, /name="active" type="checkbox" value="1">/);
  assert.equal((await developer.post(path, { ...form, preset: 'custom', cron: '' })).status, 422);
});

test('shows the next run on the clocks of the schedule', async () => {
  const id = await added();
  const { text } = await developer.get(path);
  const { next_run_at } = await one(id);
  const row = /<th scope="row">nightly[^]*?<\/tr>/.exec(text)?.[0] ?? '';
  assert.ok(row.includes(`<time datetime="${next_run_at}">`), row);
  assert.match(row, /<time [^>]+>\w{3} \d{4}-\d\d-\d\d 04:00<\/time> <span class="quiet">Europe\/Berlin/);
  await developer.post(`${path}/${id}/delete`);
});

test('runs on demand, with its variables', async () => {
  const id = await added();
  const page = `${path}/${id}`;
  await developer.get(page);
  await developer.post(`${page}/variables`, {
    key: 'WHERE',
    value: 'a\r\nb<',
    variable_type: 'file',
    raw: '1',
  });
  assert.match((await developer.get(page)).text, /WHERE[\s\S]+File[\s\S]+>\na\nb&lt;<\/textarea>/);
  const twice = await developer.post(`${page}/variables`, { key: 'WHERE', value: 'c' });
  assert.deepEqual([twice.status, /Key has already been taken/.test(twice.text)], [422, true]);
  assert.match(
    (await developer.post(`${page}/variables`, { key: 'a b', value: '' })).text,
    /a b: can contain only/,
  );
  await developer.post(`${page}/variables/edit`, { key: 'WHERE', value: 'there' });
  const { location } = await developer.post(`${page}/play`);
  const pipeline = Number(/pipelines\/(\d+)$/.exec(location ?? '')?.[1]);
  const { body } = await gantry.api(`GET /projects/${project.id}/pipelines/${pipeline}/variables`);
  assert.deepEqual(
    body.map((variable: object) => ({ ...variable })),
    [{ key: 'WHERE', value: 'there', variable_type: 'file', raw: true }],
  );
  assert.match((await developer.get(path)).text, new RegExp(`/pipelines/${pipeline}">#${pipeline}<`));
  await developer.post(`${page}/variables/delete`, { key: 'WHERE' });
  assert.deepEqual(
    await gantry.service.platform.store.db.selectFrom('pipeline_schedule_variables').select('key').execute(),
    [],
  );
  await gantry.service.platform.store.write(async ({ db }) => {
    await db.updateTable('pipeline_schedules').set({ ref: 'gone' }).where('id', '=', id).execute();
  });
  const refused = await developer.post(`${page}/play`);
  assert.equal(refused.location, path);
  assert.match((await developer.get(path)).text, /role="alert">No pipeline was created: Reference not found/);
});

test('other users can run a schedule and not edit it; a maintainer takes ownership', async () => {
  const id = await added();
  const page = `${path}/${id}`;
  assert.equal((await other.post(`${page}/play`)).status, 303);
  assert.equal((await other.get(page)).status, 403);
  for (const verb of [
    '',
    '/delete',
    '/take_ownership',
    '/variables',
    '/variables/edit',
    '/variables/delete',
  ]) {
    assert.equal((await other.post(page + verb, { ...form, key: 'A', value: 'b' })).status, 403, verb);
  }
  assert.doesNotMatch((await other.get(path)).text, new RegExp(`${id}/(?:delete|take_ownership)`));
  assert.equal((await owner.get(page)).status, 403);
  assert.match((await owner.get(path)).text, new RegExp(`action="${page}/take_ownership"`));
  assert.equal((await owner.post(`${page}/take_ownership`)).location, path);
  assert.equal((await owner.get(page)).status, 200);
  assert.equal((await developer.get(page)).status, 403);
  const elsewhere = await seedProject(gantry, { visibility: 'private' });
  const there = `/${elsewhere.full_path}/-/pipeline_schedules/${id}`;
  assert.equal((await owner.get(there)).status, 404);
});
