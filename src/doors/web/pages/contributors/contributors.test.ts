/** Tests the page of contributors. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedMember, seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let user: Visitor;
let userId: number;

before(async () => {
  gantry = await startTestService();
  ({ id: userId, visitor: user } = await seedVisitor(gantry));
});
after(async () => await gantry.close());

const newProject = async (visibility: 'public' | 'private' = 'public') => {
  const project = await seedProject(gantry, { visibility });
  await seedCommit(gantry, project.id, { a: '1' });
  await seedCommit(gantry, project.id, { a: '2' });
  const actions = [{ action: 'create', file_path: 'b', content: '' }];
  const author = { author_name: 'Grace & H', author_email: 'grace@example.com' };
  const json = { branch: 'main', commit_message: 'x', actions, ...author };
  await gantry.api(`POST /projects/${project.id}/repository/commits`, { json });
  return { ...project, graphs: `/${project.full_path}/-/graphs` };
};

test('lists the authors by their commits, without their addresses in the text', async () => {
  const { graphs } = await newProject();
  const { status, text } = await user.get(`${graphs}/main`);
  assert.equal(status, 200);
  assert.ok(
    text.includes('2 contributors') && text.includes('>2 commits</a>') && text.includes('Grace &amp; H'),
  );
  assert.ok(text.indexOf('Ada Lovelace') < text.indexOf('Grace'));
  assert.equal((await user.get(graphs)).status, 200);
  assert.equal((await user.get(`${graphs}/nope`)).status, 404);
  assert.equal((await user.get(`${graphs}/main?page=x`)).status, 400);
});

test('a hidden project answers like a missing one; a guest is refused', async () => {
  const { id, graphs } = await newProject('private');
  const missing = await user.get('/no-such/project/-/graphs/main');
  const hidden = await user.get(`${graphs}/main`);
  assert.deepEqual([hidden.status, hidden.text], [404, missing.text]);
  assert.match((await openVisitor(gantry).get(`${graphs}/main`)).location ?? '', /^\/users\/sign_in/);
  await seedMember(gantry, { user: userId, project: id, access_level: 10 });
  assert.equal((await user.get(`${graphs}/main`)).status, 403);
  const open = await newProject();
  assert.equal((await openVisitor(gantry).get(`${open.graphs}/main`)).status, 200);
});
