/** Files are not removed while a backup may still copy them. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startTestService, type TestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => void (gantry = await startTestService()));
after(async () => await gantry.close());

const hold = async (held_until: number | null): Promise<void> => {
  const row = { name: 'one', destination: '/srv', holder: 'here', started_at: 0, held_until };
  await gantry.service.platform.store.write(
    async ({ db }) =>
      await db
        .insertInto('backups')
        .values({ ...row, finished_at: null, verified_at: null, bytes: null, error: null })
        .onConflict((clash) => clash.column('name').doUpdateSet({ held_until }))
        .execute(),
  );
};

const countRepositories = (): number =>
  globSync('repositories/default/@hashed/*/*/*.git', { cwd: join(gantry.service.platform.config.data) })
    .length;

test('a removed project keeps its repository until the backup ends', async () => {
  const { body } = await gantry.api('POST /projects', {
    json: { name: 'Removed', initialize_with_readme: true },
  });
  assert.equal(countRepositories(), 1);
  const now = Date.now();
  await hold(now + 60_000);
  const { status } = await gantry.api(`DELETE /projects/${body.id}`);
  assert.equal(status, 202);
  await gantry.service.worker.drain();
  assert.equal(countRepositories(), 1);
  await hold(null);
  gantry.setTime(now + 600_000);
  await gantry.service.worker.drain();
  assert.equal(countRepositories(), 0);
});
