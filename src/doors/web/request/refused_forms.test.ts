/** Forms with a value past its limit come back with all that was typed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import { seedGroup, seedProject } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../test/support/visitor.ts';

const password = 'correct horse battery';

let gantry: TestService;
let root: Visitor;
let inProject = '';
let inGroup = '';

before(async () => {
  gantry = await startTestService();
  const [project, group] = [await seedProject(gantry), await seedGroup(gantry)];
  inProject = `/${project.full_path}/-`;
  inGroup = `/groups/${group.full_path}/-`;
  await seedCommit(gantry, project.id, { a: '1' });
  await gantry.api(`POST /projects/${project.id}/releases`, { json: { tag_name: 'v1', ref: 'main' } });
  await gantry.api('PUT /users/1', { json: { password } });
  root = openVisitor(gantry);
  await root.signIn('root', password);
  await root.get('/profile');
});
after(async () => await gantry.close());

/** A form by its address, the field whose value is one character past its limit, and the other fields. */
type Refused = [path: string, field: string, limit: number, others?: Record<string, string>];

const texts = { bio: '', location: '', organization: '', website_url: '' };

const account: Refused[] = [
  ['/groups', 'description', 2_000, { name: 'Typed name', path: 'typed-path' }],
  ['/profile', 'bio', 2_000, { ...texts, name: 'Typed name', email: 'typed@example.com' }],
  ['/profile/account/username', 'username', 2_000],
  ['/profile/account/delete', 'confirm', 2_000],
  ['/profile/applications', 'name', 2_000, { redirect_uri: 'https://typed.example.com' }],
  ['/profile/status', 'message', 255, { emoji: 'typed' }],
  ['/profile/emails', 'email', 1_000, { current_password: '' }],
  ['/profile/gpg_keys', 'key', 100_000],
  ['/profile/keys', 'title', 2_000, { key: 'typed key' }],
  ['/profile/personal_access_tokens', 'name', 2_000, { expires_at: '2099-01-02' }],
];

const administration: Refused[] = [
  ['/admin/applications', 'name', 2_000, { redirect_uri: 'https://typed.example.com' }],
  ['/admin/broadcast_messages', 'target_path', 255, { message: 'Typed message' }],
];

const project: Refused[] = [
  ['branches', 'branch', 255, { ref: 'typed-ref' }],
  ['deploy_tokens', 'username', 255, { name: 'typed name' }],
  ['issues', 'due_date', 10, { title: 'Typed title', description: 'Typed text' }],
  ['job_token_scope/projects', 'target_project_id', 1_000],
  ['project_members', 'user', 255, { expires_at: '2099-01-02' }],
  ['project_members/groups', 'shared_group', 255, { expires_at: '2099-01-02' }],
  ['releases', 'name', 255, { tag_name: 'typed-tag', description: 'Typed notes' }],
  ['releases/v1', 'name', 255, { description: 'Typed notes' }],
  ['releases/v1/links', 'url', 2_048, { name: 'Typed link' }],
  ['settings/badges', 'link_url', 2_000, { name: 'Typed name', image_url: 'https://typed.example.com/' }],
  ['settings/access_tokens', 'name', 255, { expires_at: '2099-01-02' }],
  ['settings/integrations/jira', 'url', 2_048, { username: 'typed-user' }],
  ['tags', 'tag_name', 255, { ref: 'typed-ref', message: 'Typed message' }],
];

const group: Refused[] = [
  ['group_members', 'user', 255, { expires_at: '2099-01-02' }],
  ['settings/transfer', 'parent', 1_000],
];

const post = async (
  visitor: Visitor,
  [path, field, limit, others = {}]: Refused,
): Promise<{ status: number; lost: string[] }> => {
  const form = { ...others, [field]: `typed ${'x'.repeat(limit - 5)}` };
  const { status, text } = await visitor.post(path, form);
  const lost = Object.entries(form).filter(([, value]) => !text.includes(value));
  return { status, lost: lost.map(([name]) => name) };
};

const pages: [string, (path: string) => string, Refused[]][] = [
  ['an account', (path) => path, account],
  ['administration', (path) => path, administration],
  ['a project', (path) => `${inProject}/${path}`, project],
  ['a group', (path) => `${inGroup}/${path}`, group],
];

for (const [place, toPath, forms] of pages)
  test(`forms of ${place} come back with a value that is too long, and all others`, async () => {
    for (const [path, ...rest] of forms)
      assert.deepEqual([path, await post(root, [toPath(path), ...rest])], [path, { status: 422, lost: [] }]);
  });

test('the form of a sign-up comes back with a name that is too long, and all others', async () => {
  const visitor = openVisitor(gantry);
  await visitor.get('/users/sign_up');
  const others = { username: 'typed-name', email: 'typed@example.com', password };
  const form: Refused = ['/users/sign_up', 'name', 2_000, others];
  assert.deepEqual(await post(visitor, form), { status: 422, lost: ['password'] });
});

test('a form with characters that no text has comes back without them', async () => {
  const form = { title: 'Typed\0 title', labels: 'typed\0label', description: 'Typed text' };
  const { status, text } = await root.post(`${inProject}/issues`, form);
  assert.equal(status, 422);
  assert.ok(text.includes('value="Typed title"') && text.includes('Typed text'));
});
