import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { unique } from '../../../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { type Visitor, contentIn, openVisitor } from '../../../../../../test/support/visitor.ts';
import { configNames, fields } from '../../../../../platform/config/fields.ts';
import { adminLinks } from '../../../parts/frame/admin_layout.ts';

const password = 'correct horse';
let gantry: TestService;

const signedIn = async (isAdmin: boolean): Promise<Visitor> => {
  const username = unique('user');
  const json = { username, name: username, email: `${username}@example.com`, password, admin: isAdmin };
  assert.equal((await gantry.api('POST /users', { json })).status, 201);
  const visitor = openVisitor(gantry);
  await visitor.signIn(username, password);
  return visitor;
};

before(async () => {
  gantry = await startTestService({
    GANTRY_SSH_EXTERNAL: 'code.example.com:22',
    GANTRY_MONITORING_TOKEN: 'hunter2-hunter2-hunter2',
    GANTRY_SECURITY_CONTACT: 'mailto:<b>@example.com',
  });
});
after(async () => await gantry.close());

test('administrators read every setting with its source and meaning, and no secret', async () => {
  const page = await (await signedIn(true)).get('/admin/configuration');
  assert.equal(page.status, 200);
  const rows = new Map(
    contentIn(page)
      .split('<tr>')
      .map((row) => [/<th scope="row"><code>(\w+)<\/code>/.exec(row)?.[1], row]),
  );
  for (const name of configNames) assert.ok(rows.has(fields[name].variable), name);
  const row = (variable: string): string => (rows.get(variable) ?? '').replaceAll(/\s*<[^>]+>\s*/g, '|');
  assert.match(row('GANTRY_SSH_EXTERNAL'), /\|code\.example\.com:22\|+Environment\|+host and port at which/);
  assert.match(row('GANTRY_DEFAULT_BRANCH'), /\|main\|+Default\|/);
  assert.match(row('GANTRY_SSH_LISTEN'), /\|Not set\|+Default\|/);
  assert.match(row('GANTRY_MONITORING_TOKEN'), /\|\[hidden\]\|+Environment\|/);
  assert.match(row('GANTRY_SECURITY_CONTACT'), /mailto:&lt;b&gt;@example\.com/);
  assert.doesNotMatch(page.text, /hunter2/);
});

test('the page is hidden from others', async () => {
  const user = await signedIn(false);
  const hidden = await user.get('/admin/configuration');
  assert.deepEqual([hidden.status, (await user.get('/admin/health')).status], [hidden.status, hidden.status]);
  assert.ok(hidden.status >= 403);
  assert.equal((await openVisitor(gantry).get('/admin/configuration')).status, 302);
});

test('the overview lists every administration page', async () => {
  const { text } = await (await signedIn(true)).get('/admin');
  const [, areas = ''] = /<dl class="topics">([^]*?)<\/dl>/.exec(text) ?? [];
  const paths = [...areas.matchAll(/<dt><a href="([^"]+)">/g)].map(([, path]) => path);
  assert.deepEqual(paths, [
    ...adminLinks.map(([path]) => path).filter((path) => path !== '/admin'),
    '/-/docs/api',
  ]);
});
