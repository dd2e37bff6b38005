/** Tests the forms of a project's header, and the list of starrers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let user: Visitor;
before(async () => {
  gantry = await startTestService();
  ({ visitor: user } = await seedVisitor(gantry, { name: 'A <b>User' }));
});
after(async () => await gantry.close());

test('stars and unstars a project, and lists who starred it', async () => {
  const { full_path, id } = await seedProject(gantry, { visibility: 'public' });
  const home = await user.get(`/${full_path}`);
  assert.ok(home.text.includes(`action="/${full_path}/-/star"`));
  assert.ok(home.text.includes('aria-label="0 users starred this project"'));
  const starred = await user.post(`/${full_path}/-/star`);
  assert.deepEqual([starred.status, starred.location], [303, `/${full_path}`]);
  const after = await user.get(`/${full_path}`);
  assert.ok(after.text.includes(`action="/${full_path}/-/unstar"`));
  assert.ok(after.text.includes('aria-label="1 user starred this project"'));
  const list = await openVisitor(gantry).get(`/${full_path}/-/starrers`);
  assert.deepEqual([list.status, list.text.includes('A &lt;b&gt;User')], [200, true]);
  const none = await user.get(`/${full_path}/-/starrers?search=nobody`);
  assert.ok(none.text.includes('No results'));
  assert.equal((await user.post(`/${full_path}/-/unstar`)).status, 303);
  assert.equal((await gantry.api(`GET /projects/${id}`)).body.star_count, 0);
});

test('changes the notification level', async () => {
  const { full_path } = await seedProject(gantry, { visibility: 'public' });
  await user.get(`/${full_path}`);
  const changed = await user.post(`/${full_path}/-/notification_setting`, { level: 'mention' });
  assert.deepEqual([changed.status, changed.location], [303, `/${full_path}`]);
  assert.match((await user.get(`/${full_path}`)).text, /<summary[^>]*>.*On mention/);
  const wrong = await user.post(`/${full_path}/-/notification_setting`, { level: 'loud' });
  assert.equal(wrong.status, 400);
});

test('counts the users who watch the project', async () => {
  const { full_path } = await seedProject(gantry, { visibility: 'public' });
  const shown = async (visitor: Visitor): Promise<string | undefined> => {
    const { text } = await visitor.get(`/${full_path}`);
    return /<span class="count">([^<]*)<span class="visually-hidden"> (users? watch(?:es)? this project)/
      .exec(text)
      ?.slice(1)
      .join(' ');
  };
  const { visitor: other } = await seedVisitor(gantry);
  for (const visitor of [user, openVisitor(gantry)])
    assert.equal(await shown(visitor), '0 users watch this project');
  const setting = `/${full_path}/-/notification_setting`;
  await user.post(setting, { level: 'watch' });
  assert.equal(await shown(other), '1 user watches this project');
  await other.post(setting, { level: 'watch' });
  assert.equal(await shown(openVisitor(gantry)), '2 users watch this project');
  // Another level does not count, nor does the level of another project.
  await other.post(setting, { level: 'participating' });
  const elsewhere = await seedProject(gantry, { visibility: 'public' });
  await other.post(`/${elsewhere.full_path}/-/notification_setting`, { level: 'watch' });
  assert.equal(await shown(user), '1 user watches this project');
});

test('sends anonymous visitors to sign in', async () => {
  const { full_path } = await seedProject(gantry, { visibility: 'public' });
  const visitor = openVisitor(gantry);
  const { text } = await visitor.get(`/${full_path}`);
  assert.ok(text.includes(`href="/users/sign_in?return_to=${encodeURIComponent(`/${full_path}`)}"`));
  assert.equal(text.includes('<form method="post"'), false);
  for (const page of ['star', 'unstar', 'notification_setting', 'forks']) {
    assert.equal((await visitor.post(`/${full_path}/-/${page}`)).location, '/users/sign_in', page);
  }
});

test('answers for a hidden project as for a missing one', async () => {
  const { full_path } = await seedProject(gantry, { visibility: 'private' });
  for (const [page, form] of [
    ['star', {}],
    ['unstar', {}],
    ['notification_setting', { level: 'watch' }],
  ] as const) {
    const seen = await user.post(`/${full_path}/-/${page}`, form);
    const missing = await user.post(`/no/project/-/${page}`, form);
    assert.deepEqual([seen.status, seen.text], [404, missing.text], page);
  }
});
