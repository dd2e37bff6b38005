/** Tests the preview of Markdown texts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type SeededProject, seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: SeededProject;
let user: Visitor;

const path = '/-/preview_markdown';

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  ({ visitor: user } = await seedVisitor(gantry, { project: project.id, access_level: 20 }));
  await gantry.api(`POST /projects/${project.id}/issues`, { json: { title: 'One' } });
});
after(async () => await gantry.close());

test('renders a text with references of the project, and nothing that runs', async () => {
  const text = '*a* #1 <img src=x onerror=alert(1)><script>alert(1)</script>';
  const seen = await user.post(path, { text, project: project.full_path });
  assert.equal(seen.status, 200);
  assert.match(seen.text, /^<div class="prose"><p dir="auto"><em>a<\/em> <a href="[^"]+\/issues\/1"/);
  assert.doesNotMatch(seen.text, /<script|onerror/);
  assert.equal(seen.headers.get('content-security-policy'), "default-src 'none'; sandbox");
  assert.match((await user.post(path, { text: '#1' })).text, /<p dir="auto">#1<\/p>/);
});

test('takes the token of the form in a header, and refuses requests without one', async () => {
  const { text } = await user.get('/profile');
  const token = /name="authenticity_token" value="([^"]+)"/.exec(text)?.[1] ?? '';
  const form = { text: '*a*', authenticity_token: null };
  assert.equal((await user.post(path, form, { 'x-csrf-token': token })).status, 200);
  assert.equal((await user.post(path, form)).status, 422);
  assert.equal((await user.post(path, form, { 'x-csrf-token': token, origin: 'https://a.b' })).status, 422);
});

test('sends visitors who are not signed in away, and hides what they may not see', async () => {
  assert.match((await openVisitor(gantry).post(path, { text: 'a' })).location ?? '', /sign_in/);
  const hidden = await seedProject(gantry, { visibility: 'private' });
  const statuses = await Promise.all(
    [hidden.full_path, 'no/where'].map(
      async (of) => (await user.post(path, { text: 'a', project: of })).status,
    ),
  );
  assert.deepEqual(statuses, [404, 404]);
  assert.equal((await user.post(path, {})).status, 400);
});
