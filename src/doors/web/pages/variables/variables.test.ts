/** Tests the pages of CI variables of the instance, a group and a project. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, contentIn } from '../../../../../test/support/visitor.ts';
import { unsealValue } from '../../../../ci/variables/queries.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let group: { id: number; full_path: string };
let owner: Visitor;
let admin: Visitor;
let developer: Visitor;
let places: { path: string; api: string; who: Visitor }[];

const member = async (access_level: number): Promise<Visitor> =>
  (await seedVisitor(gantry, { group: group.id, access_level })).visitor;

before(async () => {
  gantry = await startTestService();
  group = await seedGroup(gantry, { visibility: 'private' });
  project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  [owner, developer, admin] = [
    await member(50),
    await member(30),
    (await seedVisitor(gantry, { admin: 1 })).visitor,
  ];
  places = [
    { path: '/admin/variables', api: '/admin/ci/variables', who: admin },
    { path: `/groups/${group.full_path}/-/variables`, api: `/groups/${group.id}/variables`, who: owner },
    { path: `/${project.full_path}/-/variables`, api: `/projects/${project.id}/variables`, who: owner },
  ];
});
after(async () => await gantry.close());

const variable = async (api: string, key: string, scope = '*') =>
  await gantry.api(`GET ${api}/${key}?filter[environment_scope]=${encodeURIComponent(scope)}`);

test('adds, edits and deletes a variable, in each place', async () => {
  for (const { path, api, who } of places) {
    assert.equal((await who.get(path)).status, 200);
    const form = {
      key: 'TOKEN',
      value: 'a\r\nb<b>',
      description: 'for <i>',
      protected: '1',
      masked: '0',
      raw: '0',
    };
    const { status, location } = await who.post(path, form);
    assert.deepEqual([status, location], [303, path]);
    const { text } = await who.get(path);
    assert.match(text, /The variable TOKEN was created[\s\S]+a\nb&lt;b&gt;[\s\S]+All jobs/);
    assert.match(text, /for &lt;i&gt;/);
    const { body } = await variable(api, 'TOKEN');
    assert.deepEqual([body.value, body.protected, body.raw], ['a\nb<b>', true, false]);
    const edit = `${path}/TOKEN?scope=*`;
    assert.match((await who.get(edit)).text, /name="protected" type="checkbox" value="1" checked/);
    await who.post(edit, {
      value: 'other-value',
      masked: '1',
      environment_scope: 'review/*',
      variable_type: 'file',
    });
    const changed = (await variable(api, 'TOKEN', 'review/*')).body;
    assert.deepEqual(
      [changed.value, changed.masked, changed.protected, changed.variable_type, changed.description],
      ['other-value', true, false, 'file', null],
    );
    assert.match((await who.get(path)).text, /href="[^"]+\/TOKEN\?scope=review%2F\*"/);
    assert.equal((await who.post(`${path}/TOKEN/delete?scope=*`)).status, 404);
    assert.equal((await who.post(`${path}/TOKEN/delete?scope=review%2F*`)).location, path);
    assert.equal((await variable(api, 'TOKEN', 'review/*')).status, 404);
  }
});

test('never shows a hidden value, and keeps it when the field is empty', async () => {
  const [, , place] = places;
  assert.ok(place !== undefined);
  const { path, api, who } = place;
  await who.get(path);
  await who.post(path, { key: 'SECRET', value: 'do-not-show-me', masked_and_hidden: '1' });
  const edit = `${path}/SECRET?scope=*`;
  for (const page of [path, edit]) assert.doesNotMatch((await who.get(page)).text, /do-not-show-me/);
  await who.post(edit, { value: '', description: 'kept' });
  const row = await gantry.service.platform.store.db
    .selectFrom('variables')
    .select('sealed_value')
    .where('key', '=', 'SECRET')
    .executeTakeFirstOrThrow();
  assert.equal(unsealValue(gantry.service.platform, row.sealed_value), 'do-not-show-me');
  const { body } = await variable(api, 'SECRET');
  assert.deepEqual([body.hidden, body.masked, body.description], [true, true, 'kept']);
  await who.post(edit, { value: 'another-secret' });
  const { sealed_value } = await gantry.service.platform.store.db
    .selectFrom('variables')
    .select('sealed_value')
    .where('key', '=', 'SECRET')
    .executeTakeFirstOrThrow();
  assert.equal(unsealValue(gantry.service.platform, sealed_value), 'another-secret');
});

test('compares of a hidden variable what its form shows', async () => {
  const api = `/projects/${project.id}/variables`;
  const made = { key: 'TWO_EDITORS', value: 'sesame-street', masked_and_hidden: true };
  assert.equal((await gantry.api(`POST ${api}`, { json: made })).status, 201);
  const path = `/${project.full_path}/-/variables/TWO_EDITORS?scope=*`;
  const { text } = await owner.get(path);
  const base = /name="base" value="([^"]+)"/.exec(text)?.[1] ?? '';
  const theirs = { description: 'Theirs', variable_type: 'file' };
  assert.equal((await gantry.api(`PUT ${api}/TWO_EDITORS`, { json: theirs })).status, 200);
  const mine = { value: 'new-sesame', variable_type: 'env_var', environment_scope: '*', base };
  const refused = await owner.post(path, mine);
  assert.equal(refused.status, 422);
  const card = /Saved meanwhile[^]+?<\/section>/.exec(refused.text)?.[0] ?? '';
  assert.match(
    card,
    /<h3>Kind<\/h3><p class="lines">File: the variable[^]+<h3>Description<\/h3><p class="lines">Theirs/,
  );
  assert.doesNotMatch(card, /<h3>(?:Value|Masked)<|env_var/);
  assert.equal((await gantry.api(`DELETE ${api}/TWO_EDITORS`)).status, 204);
});

test('shows problems, keeps the input, and changes nothing', async () => {
  for (const { path, api, who } of places) {
    await who.get(path);
    const bad = await who.post(path, { key: 'a b', value: 'typed<', masked: '1' });
    assert.equal(bad.status, 422);
    assert.match(bad.text, /Key can contain only letters/);
    assert.match(bad.text, /Value is invalid/);
    assert.match(bad.text, />\ntyped&lt;<\/textarea>/);
    const long = await who.post(path, { key: 'x'.repeat(300), value: 'y' });
    assert.deepEqual([long.status, /Key is too long/.test(long.text)], [422, true]);
    await who.post(path, { key: 'ONE', value: 'x' });
    assert.match((await who.post(path, { key: 'ONE', value: 'y' })).text, /\(ONE\) has already been taken/);
    const edit = `${path}/ONE?scope=*`;
    const refused = await who.post(edit, { value: 'short', masked: '1' });
    assert.deepEqual([refused.status, /Value is invalid/.test(refused.text)], [422, true]);
    assert.equal((await variable(api, 'ONE')).body.value, 'x');
    assert.equal(
      (await gantry.api(`GET ${api}`)).body.filter(({ key }: { key: string }) => key !== 'SECRET').length,
      1,
    );
    await who.post(`${path}/ONE/delete?scope=*`);
  }
});

/** The fields of a form as a page shows them, ticked ones with a plus. */
const shownFields = (text: string): string[] => [
  ...[...text.matchAll(/name="(\w+)" type="checkbox" value="1" checked/g)].map(([, name]) => `+${name}`),
  ...[...text.matchAll(/<option value="(\w+)" selected/g)].map(([, value]) => value ?? ''),
];

test('a form with invalid fields keeps all that was sent', async () => {
  for (const { path, who } of places) {
    await who.get(path);
    const sent = {
      key: 'KEY',
      value: 'typed<',
      variable_type: 'file',
      environment_scope: 'review/*',
      description: 'x'.repeat(256),
      protected: '1',
      masked_and_hidden: '1',
      raw: '1',
    };
    const { status, text } = await who.post(path, sent);
    assert.equal(status, 422);
    assert.match(text, /Description is too long/);
    for (const shown of ['value="KEY"', '>\ntyped&lt;</textarea>', 'value="review/*"', 'value="xxxx'])
      assert.ok(text.includes(shown), shown);
    assert.deepEqual(shownFields(text), ['+protected', '+masked_and_hidden', '+raw', 'file']);
    await who.post(path, { key: 'KEPT', value: 'before' });
    const edited = await who.post(`${path}/KEPT?scope=*`, sent);
    assert.equal(edited.status, 422);
    assert.match(edited.text, /Description is too long/);
    assert.ok(edited.text.includes('>\ntyped&lt;</textarea>'));
    assert.deepEqual(shownFields(edited.text), ['+protected', '+raw', 'file']);
    await who.post(`${path}/KEPT/delete?scope=*`);
  }
});

test('a project links to the variables of its group, for users who manage them', async () => {
  const own = places.at(2)?.path ?? '';
  assert.match(
    (await owner.get(own)).text,
    new RegExp(`href="/groups/${group.full_path}/-/variables">Variables of the group ${group.full_path}<`),
  );
  const { visitor: master } = await seedVisitor(gantry, { project: project.id, access_level: 40 });
  const seen = await master.get(own);
  assert.deepEqual([seen.status, contentIn(seen).includes('/groups/')], [200, false]);
});

test('answers 404 to users who may not manage them', async () => {
  await developer.get('/profile');
  for (const { path } of places) {
    const status = path.startsWith('/admin') ? 404 : 403;
    assert.equal((await developer.get(path)).status, status);
    assert.equal((await developer.post(path, { key: 'X', value: 'y' })).status, status);
    assert.equal((await developer.get(`${path}/ONE?scope=*`)).status, status);
  }
  assert.doesNotMatch((await developer.get(`/${project.full_path}/-/pipelines`)).text, /-\/variables"/);
});
