import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedMember, seedProject, unique } from '../../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';
import { hasPage } from '../../routes.ts';

const password = 'correct horse';
let gantry: TestService;
let visitor: Visitor;
let id: number;
before(async () => {
  gantry = await startTestService();
  const username = unique('user');
  const json = { username, name: 'A User', email: `${username}@example.com`, password };
  id = (await gantry.api('POST /users', { json })).body.id;
  visitor = openVisitor(gantry);
  await visitor.signIn(username, password);
});
after(async () => await gantry.close());

test('every link of the dashboard leads to a page that the viewer can open', async () => {
  const own = await seedProject(gantry, { visibility: 'private', owner: id });
  const hidden = await seedProject(gantry, { visibility: 'private' });
  await seedMember(gantry, { user: id, project: hidden.id, access_level: 10 });
  const { text } = await visitor.get('/');
  assert.ok(text.includes('2 projects'), text);
  const links = [...text.matchAll(/href="(\/[^"]*)"/g)].map(([, path = '']) => path);
  assert.ok(links.includes(`/${own.full_path}/-/pipelines`), 'of a project whose pipelines they may read');
  assert.equal(links.includes(`/${own.full_path}`), hasPage('GET /-/projects/:project'));
  for (const path of links) assert.notEqual((await visitor.get(path)).status, 404, path);
});
