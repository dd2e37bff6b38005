/** Tests every page of a project and of a group, from the list of pages. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedMember, seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';
import { canonicalPath } from '../../request/project_paths.ts';
import { pagePaths } from '../../routes.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let group: { id: number; full_path: string };
let master: Visitor;
let reporter: Visitor;
let stranger: Visitor;

const someone = async (level: number | null): Promise<Visitor> => {
  const { id, visitor } = await seedVisitor(gantry, { project: project.id, access_level: level });
  if (level !== null) await seedMember(gantry, { user: id, group: group.id, access_level: level });
  return visitor;
};

before(async () => {
  gantry = await startTestService();
  group = await seedGroup(gantry, { visibility: 'private' });
  project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  master = await someone(50);
  reporter = await someone(20);
  stranger = await someone(null);
});
after(async () => await gantry.close());

type Line = { method: string; of: (projectPath: string, groupPath: string) => string };

const lines: Line[] = pagePaths
  .flatMap((entry) => entry.lines)
  .filter((line) => /^\w+ \/-\/(?:projects|groups)\//.test(line))
  .map((line) => {
    const [method = '', path = ''] = line.split(' ');
    const below = (base: string): string =>
      path
        .replace(/^\/-\/\w+\/:\w+/, base)
        .replaceAll(/:(?:i?id|note|discussion|draft|delivery|link|list_id|stage)/g, '1')
        .replace(/:(?:path|rest)/, 'x')
        .replace(/:key(.*)$/, 'x$1?scope=*');
    return {
      method,
      of: (projectPath, groupPath) =>
        canonicalPath(below(path.startsWith('/-/groups') ? `/groups/${groupPath}/-` : `/${projectPath}/-`)),
    };
  });

const ask = async (who: Visitor, method: string, path: string, form: Record<string, string | null> = {}) =>
  method === 'GET' ? await who.get(path) : await who.post(path, form);

/** More fields than any form needs: authorization comes before validation. */
const filled = {
  ref: 'main',
  key: 'x',
  scope: '*',
  description: 'x',
  level: 'watch',
  title: 'x',
  base: 'x',
  branch: 'x',
  tag_name: 'x',
  name: 'x',
  url: 'https://example.com/x',
  import_url: 'https://example.com/x',
  list: 'open',
  reference: '#1',
  relation: 'blocks',
  move: 'x',
  list_id: '1',
  content: 'x',
};

test('answers 404 to users who cannot see the project or group', async () => {
  assert.ok(lines.length > 60);
  for (const { method, of } of lines) {
    const path = of(project.full_path, group.full_path);
    // Fields of a page that has no form are in its address.
    const query = method === 'GET' ? '?list=open' : '';
    const hidden = await ask(stranger, method, path + query, filled);
    const missing = await ask(stranger, method, of('no/such', 'no-such') + query, filled);
    assert.deepEqual([hidden.status, hidden.text], [404, missing.text], `${method} ${path}`);
  }
});

test('redirects anonymous visitors to sign in', async () => {
  for (const { method, of } of lines) {
    const path = of(project.full_path, group.full_path);
    const { location } = await ask(openVisitor(gantry), method, path);
    const back = method === 'GET' ? `?return_to=${encodeURIComponent(path)}` : '';
    assert.equal(location, `/users/sign_in${back}`, `${method} ${path}`);
  }
});

test('refuses every form without its CSRF token', async () => {
  for (const { method, of } of lines.filter((line) => line.method === 'POST')) {
    const path = of(project.full_path, group.full_path);
    const without = { ...filled, authenticity_token: null };
    assert.equal((await ask(master, method, path, without)).status, 422, path);
    assert.equal(
      (await ask(master, method, path, { ...without, authenticity_token: 'x' })).status,
      422,
      path,
    );
  }
});

/** Pages whose forms reporters may use; their own tests say who may not. */
const openToReporters = /\/(?:labels|star|unstar|forks|notification_setting|issues|boards|snippets)(?:\/|$)/;

test('a reporter can change nothing', async () => {
  for (const { method, of } of lines.filter((line) => line.method === 'POST')) {
    const path = of(project.full_path, group.full_path);
    if (openToReporters.test(path)) continue;
    const { status } = await ask(reporter, method, path, filled);
    // 404: a missing record that reporters could see.
    assert.ok(status === 403 || status === 404, `${path} ${status}`);
    if (!path.includes('/1')) assert.equal(status, 403, path);
  }
});
