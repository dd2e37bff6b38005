/** Tests the settings pages of badges, and the badges on the page of a project. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedGroup, seedMember, seedProject } from '../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let owner: SeededVisitor;

before(async () => {
  gantry = await startTestService();
  owner = await seedVisitor(gantry);
});
after(async () => await gantry.close());

const place = async () => {
  const group = await seedGroup(gantry, { owner: owner.id, visibility: 'public' });
  const project = await seedProject(gantry, { namespace: group.id, visibility: 'public' });
  return { group, project, path: `/${project.full_path}/-/settings/badges` };
};

const origin = (): string => gantry.url;

test('adds, shows, edits and deletes a badge of a project', async () => {
  const { project, path } = await place();
  const { visitor } = owner;
  const list = `/projects/${project.id}/badges`;
  assert.match((await visitor.get(path)).text, /No badges/);
  const wrong = await visitor.post(path, { name: 'kept', link_url: 'javascript:alert(1)', image_url: 'x' });
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /value="kept"[\s\S]+id="link_url_error"[\s\S]+id="image_url_error"/);
  assert.doesNotMatch(wrong.text, /href="javascript:/);
  const badge = {
    name: 'Build',
    link_url: 'https://ci.example/%{project_path}?a=<b>',
    image_url: `${origin()}/%{project_path}/badges/main/pipeline.svg`,
  };
  const preview = await visitor.post(path, { ...badge, preview: '1' });
  assert.equal(preview.status, 200);
  const shown = new RegExp(
    `<a href="https://ci.example/${project.full_path}\\?a=&lt;b&gt;" rel="nofollow noopener noreferrer"><img src="${origin()}/${project.full_path}/badges/main/pipeline.svg" alt="Build"></a>`,
  );
  assert.match(preview.text, shown);
  assert.match(preview.text, /value="https:\/\/ci.example\/%\{project_path\}\?a=&lt;b&gt;"/);
  assert.deepEqual((await gantry.api(`GET ${list}`)).body, []);
  assert.equal((await visitor.post(path, badge)).location, path);
  const [made] = (await gantry.api(`GET ${list}`)).body;
  assert.deepEqual([made.name, made.link_url, made.kind], ['Build', badge.link_url, 'project']);
  assert.match((await openVisitor(gantry).get(`/${project.full_path}`)).text, shown);
  assert.match((await visitor.get(`${path}/${made.id}`)).text, shown);
  const edit = { ...badge, name: '', link_url: 'https://other.example/' };
  assert.equal((await visitor.post(`${path}/${made.id}`, { ...edit, image_url: 'no' })).status, 422);
  assert.equal((await visitor.post(`${path}/${made.id}`, edit)).location, path);
  const [changed] = (await gantry.api(`GET ${list}`)).body;
  assert.deepEqual([changed.name, changed.link_url], [null, 'https://other.example/']);
  assert.equal((await visitor.post(`${path}/${made.id}/delete`)).location, path);
  assert.deepEqual((await gantry.api(`GET ${list}`)).body, []);
  assert.equal((await visitor.get(`${path}/${made.id}`)).status, 404);
});

test('loads an image of the service from the service, also where its path begins with two slashes', async () => {
  const { project } = await place();
  const json = { link_url: 'https://a.example/', image_url: `${origin()}//evil.example/x.png` };
  await gantry.api(`POST /projects/${project.id}/badges`, { json });
  const { text } = await openVisitor(gantry).get(`/${project.full_path}`);
  assert.ok(text.includes(`<img src="${origin()}//evil.example/x.png"`));
});

test('refuses an edit of a badge that was changed meanwhile', async () => {
  const { project, path } = await place();
  const json = { name: 'One', link_url: 'https://a.example/', image_url: 'https://a.example/i.svg' };
  const { body } = await gantry.api(`POST /projects/${project.id}/badges`, { json });
  const { text } = await owner.visitor.get(`${path}/${body.id}`);
  const base = /name="base" value="([^"]+)"/.exec(text)?.[1] ?? '';
  await gantry.api(`PUT /projects/${project.id}/badges/${body.id}`, { json: { name: 'Two' } });
  const refused = await owner.visitor.post(`${path}/${body.id}`, { ...json, name: 'Three', base });
  assert.equal(refused.status, 422);
  assert.match(refused.text, /Two[\s\S]+Three|Three[\s\S]+Two/);
  const stored = await gantry.api(`GET /projects/${project.id}/badges/${body.id}`);
  assert.equal(stored.body.name, 'Two');
});

test('projects show badges of their groups, which are changed in the group', async () => {
  const { group, project, path } = await place();
  const groupPath = `/groups/${group.full_path}/-/settings/badges`;
  const { visitor } = owner;
  await visitor.get(groupPath);
  const badge = {
    name: 'Of all',
    link_url: 'https://x.example/%{project_id}',
    image_url: 'https://x.example/i',
  };
  assert.equal((await visitor.post(groupPath, badge)).location, groupPath);
  const home = await openVisitor(gantry).get(`/${project.full_path}`);
  assert.match(home.text, new RegExp(`<a href="https://x.example/${project.id}"[^>]*>[^\\n]*Of all`));
  const { text } = await visitor.get(path);
  assert.match(text, /Of all[\s\S]+Of the group/);
  const [made] = (await gantry.api(`GET /groups/${group.id}/badges`)).body;
  assert.equal((await visitor.post(`${path}/${made.id}/delete`)).status, 404);
  assert.equal((await visitor.get(`${groupPath}/${made.id}`)).status, 200);
});

test('is for those who administer the project or group', async () => {
  const { group, project, path } = await place();
  const [developer, stranger] = [await seedVisitor(gantry), await seedVisitor(gantry)];
  await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
  const badge = { link_url: 'https://a.example/', image_url: 'https://a.example/i.svg' };
  for (const { visitor } of [developer, stranger]) {
    await visitor.get('/profile');
    for (const at of [path, `/groups/${group.full_path}/-/settings/badges`])
      assert.deepEqual([(await visitor.get(at)).status, (await visitor.post(at, badge)).status], [403, 403]);
  }
});

test("offers the Markdown of the project's own badges", async () => {
  const { project } = await place();
  await seedCommit(gantry, project.id, { a: '1' });
  const { text } = await owner.visitor.get(`/${project.full_path}/-/settings/ci_cd`);
  const home = `${origin()}/${project.full_path}`;
  for (const kind of ['pipeline', 'coverage'])
    assert.ok(text.includes(`](${home}/badges/main/${kind}.svg)](${home}/-/pipelines?ref=main)"`), kind);
  assert.equal((await openVisitor(gantry).get(`/${project.full_path}/badges/main/pipeline.svg`)).status, 200);
});
