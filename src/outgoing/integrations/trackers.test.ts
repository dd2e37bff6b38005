import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { unseal } from '../../core/access/credentials/encrypt_secrets.ts';
import {
  type SeededProject,
  type SeededUser,
  seedMember,
  seedProject,
  seedUser,
} from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { externalIssuesClosedBy } from '../../planning/integrations/external_issues.ts';

let gantry: TestService;
let master: SeededUser;
let developer: SeededUser;

before(async () => {
  gantry = await startTestService();
  [master, developer] = [await seedUser(gantry), await seedUser(gantry)];
});
after(async () => await gantry.close());

const place = async (): Promise<SeededProject> => {
  const project = await seedProject(gantry);
  await seedMember(gantry, { user: master.id, project: project.id, access_level: 40 });
  await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
  return project;
};

const urls = {
  project_url: 'https://tracker.example.com/p',
  issues_url: 'https://tracker.example.com/i/:id',
  new_issue_url: 'https://tracker.example.com/new',
};

const api = async (line: string, json?: object, as = master.token) =>
  await gantry.api(line, { as, ...(json && { json }) });

test('lets a master connect, edit and disconnect a tracker', async () => {
  const { id } = await place();
  const path = `/projects/${id}/integrations/redmine`;
  assert.deepEqual((await api(`GET ${path}`)).body, { message: '404 Integration Not Found' });
  const made = await api(`PUT ${path}`, urls);
  assert.equal(made.status, 200);
  assert.deepEqual(
    [made.body.title, made.body.slug, made.body.active, made.body.properties],
    ['Redmine', 'redmine', true, { ...urls, title: null, description: null }],
  );
  assert.deepEqual((await api(`GET ${path}`)).body, made.body);
  const listed = await api(`GET /projects/${id}/services`);
  assert.deepEqual(
    [listed.body.map(({ slug }: { slug: string }) => slug), listed.headers.get('x-total')],
    [['redmine'], '1'],
  );
  const changed = await api(`PUT /projects/${id}/services/redmine`, { title: 'Ours', active: false });
  assert.deepEqual([changed.body.properties.title, changed.body.active], ['Ours', false]);
  assert.deepEqual((await api(`GET /projects/${id}/integrations`)).body, []);
  assert.equal((await api(`DELETE ${path}`)).status, 204);
  assert.equal((await api(`GET ${path}`)).status, 404);
  assert.equal((await api(`DELETE ${path}`)).status, 404);
});

test('requires the properties of a tracker and valid URLs', async () => {
  const { id } = await place();
  const path = `/projects/${id}/integrations`;
  const missing = await api(`PUT ${path}/bugzilla`, { project_url: urls.project_url });
  assert.deepEqual([missing.status, missing.body.message], [400, '400 (Bad request) "issues_url" not given']);
  for (const wrong of ['javascript:alert(1)', 'nowhere', 'ftp://example.com']) {
    const refused = await api(`PUT ${path}/bugzilla`, { ...urls, issues_url: wrong });
    assert.deepEqual([refused.status, refused.body.message], [400, { issues_url: ['is not a valid URL'] }]);
  }
  const unknown = await api(`PUT ${path}/telegram`, urls);
  assert.deepEqual([unknown.status, unknown.body.message], [400, { slug: ['does not have a valid value'] }]);
  assert.equal((await api(`PUT ${path}/youtrack`, { ...urls, new_issue_url: '' })).status, 200);
});

test('allows one active tracker per project, also under concurrent requests', async () => {
  const { id } = await place();
  const put = async (slug: string, json: object = urls) =>
    await api(`PUT /projects/${id}/integrations/${slug}`, json);
  const answers = await Promise.all(
    ['redmine', 'bugzilla', 'custom-issue-tracker', 'youtrack'].map((slug) => put(slug)),
  );
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  assert.deepEqual(statuses, [200, 400, 400, 400]);
  assert.match(
    answers.find(({ status }) => status === 400)?.body.message.base[0],
    /^Another issue tracker is already in use/,
  );
  const other = answers[0]?.status === 200 ? 'bugzilla' : 'redmine';
  assert.equal((await put(other, { ...urls, active: false })).status, 200);
});

test('encrypts a password, never returns it and requires it again for a new address', async () => {
  const { id } = await place();
  const path = `/projects/${id}/integrations/jira`;
  const jira = { url: 'https://jira.example.com', username: 'bot', password: 'open sesame' };
  const made = await api(`PUT ${path}`, jira);
  assert.equal(made.status, 200);
  assert.equal('password' in made.body.properties, false);
  const stored = async () => {
    const row = await gantry.service.platform.store.db
      .selectFrom('integrations')
      .select('properties')
      .where('project_id', '=', id)
      .executeTakeFirstOrThrow();
    return row.properties;
  };
  assert.equal((await stored()).includes('sesame'), false);
  const { password } = JSON.parse(await stored()) as { password: string };
  const key = gantry.service.platform.secrets.encryption_key;
  assert.equal(unseal(key, 'integration password', password), jira.password);
  assert.equal((await api(`PUT ${path}`, { username: 'other' })).status, 200);
  assert.equal(JSON.parse(await stored()).password, password);
  const led = await api(`PUT ${path}`, { url: 'https://elsewhere.example.com' });
  assert.deepEqual([led.status, led.body.message], [400, '400 (Bad request) "password" not given']);
});

test('refuses reading and editing by other users', async () => {
  const { id } = await place();
  for (const line of ['GET', 'PUT', 'DELETE'].map((method) => `${method} /projects/${id}/services/redmine`)) {
    assert.equal((await api(line, undefined, developer.token)).status, 403, line);
    assert.equal((await gantry.api(line, { as: null })).status, 401, line);
  }
  assert.equal((await api(`GET /projects/${id}/services`, undefined, developer.token)).status, 403);
});

test('closes external issues only with an active tracker', async () => {
  const { id } = await place();
  const { db } = gantry.service.platform.store;
  const closed = async () => await externalIssuesClosedBy(db, id, 'Closes ABC-12 and closes #3');
  assert.deepEqual(await closed(), []);
  await api(`PUT /projects/${id}/integrations/jira`, { url: 'https://j.example.com', password: 'x' });
  assert.deepEqual(await closed(), [{ id: 'ABC-12', title: 'External Issue ABC-12' }]);
  await api(`PUT /projects/${id}/integrations/jira`, { active: false });
  assert.deepEqual(await closed(), []);
});
