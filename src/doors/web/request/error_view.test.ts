/** Tests the error pages of signed-in users and of visitors. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedMember, seedProject, seedUser } from '../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { openVisitor } from '../../../../test/support/visitor.ts';

let gantry: TestService;
let group: { id: number; full_path: string };
let project: { id: number; full_path: string };
let developer: SeededVisitor;

before(async () => {
  gantry = await startTestService();
  group = await seedGroup(gantry, { visibility: 'public' });
  project = await seedProject(gantry, { namespace: group.id, visibility: 'public' });
  developer = await seedVisitor(gantry, { project: project.id, access_level: 30 });
});
after(async () => await gantry.close());

const addMember = async (place: object, access_level: number, name: string) => {
  const user = await seedUser(gantry, { name });
  await seedMember(gantry, { user: user.id, access_level, ...place });
  return user;
};

const namesIn = (text: string): string[] =>
  [...(/Who can give you access: ([^]*?)<\/p>/.exec(text)?.[1]?.matchAll(/>([^<]+)<\/a>/g) ?? [])].map(
    ([, name = '']) => name,
  );

test('a refusal keeps the frame, and names owners and maintainers', async () => {
  const blocked = await addMember({ project: project.id }, 50, 'Blocked Owner');
  await gantry.api(`POST /users/${blocked.id}/block`);
  const maintainer = await addMember({ project: project.id }, 40, 'Own Maintainer');
  await addMember({ group: group.id }, 50, 'Group Owner');
  await addMember({ group: group.id }, 40, 'Group Maintainer');
  const ofProject = await developer.visitor.get(`/${project.full_path}/-/settings`);
  assert.equal(ofProject.status, 403);
  assert.deepEqual(namesIn(ofProject.text), ['Group Owner', 'Own Maintainer', 'Group Maintainer']);
  assert.ok(ofProject.text.includes(`href="/${maintainer.username}"`));
  assert.match(ofProject.text, /class="topbar"[^]*aria-label="Assigned issues/);
  assert.doesNotMatch(ofProject.text, /sign_in|Sign in/);
  const ofGroup = await developer.visitor.get(`/groups/${group.full_path}/-/settings`);
  assert.deepEqual([ofGroup.status, namesIn(ofGroup.text)], [403, ['Group Owner']]);
  const label = { name: 'x', color: '#336699' };
  const sent = await developer.visitor.post(`/groups/${group.full_path}/-/labels`, label);
  assert.equal(sent.status, 403, sent.text);
  assert.match(sent.text, /class="topbar"[^]*aria-label="Assigned issues/);
});

test('what is hidden or missing keeps the frame alone', async () => {
  const hidden = await seedProject(gantry, { visibility: 'private' });
  await addMember({ project: hidden.id }, 50, 'Hidden Owner');
  for (const path of [`/${hidden.full_path}/-/settings`, '/no/such']) {
    const { status, text } = await developer.visitor.get(path);
    assert.equal(status, 404, path);
    assert.match(text, /<h1>Not found<\/h1>/);
    assert.doesNotMatch(text, /Hidden Owner|Who can give|[Ss]ign in/, path);
  }
});

test('a visitor who is not signed in is asked to', async () => {
  const { status, text } = await openVisitor(gantry).get('/admin/no-such-page', { accept: 'text/html' });
  assert.equal(status, 404);
  assert.match(text, /href="\/users\/sign_in">Sign in/);
  assert.doesNotMatch(text, /<script/, 'its policy lets none run');
});
