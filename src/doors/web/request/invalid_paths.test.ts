/** Addresses with a word where a record has its number: no record is there, whatever else was sent. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedProject } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { seedVisitor } from '../../../../test/support/seed_visitor.ts';
import { openVisitor } from '../../../../test/support/visitor.ts';
import type { AnyPage } from '../page.ts';
import { pagePaths } from '../routes.ts';

const password = 'correct horse battery';

let gantry: TestService;
before(async () => void (gantry = await startTestService({ GANTRY_LOG_LEVEL: 'error' })));
after(async () => await gantry.close());

test('a form with an address that is no id is missing, and never fails', async () => {
  const [group, project] = [await seedGroup(gantry), await seedProject(gantry)];
  await gantry.api('PUT /users/1', { json: { password } });
  const visitor = openVisitor(gantry);
  await visitor.signIn('root', password);
  await visitor.get('/profile');
  const loaded = await Promise.all(pagePaths.map(async ({ load }) => await load()));
  const forms = [...new Set(loaded.flat())].filter(
    ({ method, path, invalid }) => method === 'POST' && invalid !== undefined && /:(?:id|iid)\b/.test(path),
  );
  assert.ok(forms.length > 5);
  const failed: string[] = [];
  for (const { path } of forms)
    for (const id of ['x', '1e400']) {
      const at = path
        .replace(/:project\b/, encodeURIComponent(project.full_path))
        .replace(/:group\b/, encodeURIComponent(group.full_path))
        .replaceAll(/:i?id\b/g, id)
        .replaceAll(/:\w+/g, '1');
      const { status } = await visitor.post(at, { expires_at: 'no day', url: '1' });
      if (status !== 404) failed.push(`${at}: ${status}`);
    }
  assert.deepEqual(failed, []);
  assert.deepEqual(gantry.logged(), []);
});

const numbersOf = ({ path, params }: Pick<AnyPage, 'path' | 'params'>): string[] =>
  (Object.entries(params.properties) as [string, { type?: unknown }][])
    .filter(([name, { type }]) => type === 'integer' && new RegExp(`:${name}\\b`).test(path))
    .map(([name]) => name);

test('every page with a word where an id stands is missing, in a hidden place as in a missing one', async () => {
  const [group, project] = [
    await seedGroup(gantry, { visibility: 'private' }),
    await seedProject(gantry, { visibility: 'private' }),
  ];
  await gantry.api('PUT /users/1', { json: { password } });
  const admin = openVisitor(gantry);
  await admin.signIn('root', password);
  const { visitor: stranger } = await seedVisitor(gantry);
  const loaded = await Promise.all(pagePaths.map(async ({ load }) => await load()));
  const pages = [...new Set(loaded.flat())].filter(
    (page) => page.method === 'GET' && numbersOf(page).length > 0,
  );
  assert.ok(pages.length > 40);
  const wrong: string[] = [];
  for (const page of pages) {
    const below = numbersOf(page).reduce(
      (path, name) => path.replace(new RegExp(`:${name}\\b`), 'word'),
      page.path,
    );
    const at = (place: string): string =>
      below.replace(/:(?:project|group)\b/, encodeURIComponent(place)).replaceAll(/:\w+/g, 'x');
    const path = at(below.includes(':group') ? group.full_path : project.full_path);
    const [seen, hidden, missing] = [
      await admin.get(path),
      await stranger.get(path),
      await stranger.get(at('no-such/place')),
    ];
    const isSame = hidden.status === 404 && hidden.text === missing.text;
    if (seen.status !== 404 || !/<h1>Not found/.test(seen.text) || !isSame)
      wrong.push(`${page.path}: ${seen.status}, ${hidden.status}, ${missing.status}`);
  }
  assert.deepEqual(wrong, []);
});

test('the address of a variable without a scope names the one for all environments', async () => {
  const project = await seedProject(gantry);
  await gantry.api(`POST /projects/${project.id}/variables`, { json: { key: 'KEY', value: 'x' } });
  const admin = openVisitor(gantry);
  await gantry.api('PUT /users/1', { json: { password } });
  await admin.signIn('root', password);
  const path = `/${project.full_path}/-/variables`;
  assert.match((await admin.get(`${path}/KEY`)).text, /<h1>Variable KEY/);
  assert.equal((await admin.get(`${path}/new`)).status, 404);
});
