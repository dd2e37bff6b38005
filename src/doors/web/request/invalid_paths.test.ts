/** Forms whose address names a record by something that is no id: what is wrong is the address, not the form. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedProject } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { openVisitor } from '../../../../test/support/visitor.ts';
import { pagePaths } from '../routes.ts';

const password = 'correct horse battery';

let gantry: TestService;
before(async () => void (gantry = await startTestService({ GANTRY_LOG_LEVEL: 'error' })));
after(async () => await gantry.close());

test('a form with an address that is no id is refused, and never fails', async () => {
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
      if (status !== 400 && status !== 404) failed.push(`${at}: ${status}`);
    }
  assert.deepEqual(failed, []);
  assert.deepEqual(gantry.logged(), []);
});
