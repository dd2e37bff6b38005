import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../test/support/repositories/seed_commits.ts';
import { seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { housekeepingWork } from './housekeeping.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const waiting = async (): Promise<number> => {
  const { db } = gantry.service.platform.store;
  return (await db.selectFrom('work').select('id').where('name', '=', housekeepingWork).execute()).length;
};

test('packs the repository once, for those who administer the project', async () => {
  const { id } = await seedProject(gantry, { visibility: 'private' });
  await seedCommit(gantry, id, { a: '1' });
  const path = `/projects/${id}/housekeeping`;
  const developer = await seedUser(gantry);
  await seedMember(gantry, { user: developer.id, project: id, access_level: 30 });
  assert.equal((await gantry.api(`POST ${path}`, { as: developer.token })).status, 403);
  assert.equal((await gantry.api(`POST ${path}?task=other`)).status, 400);
  for (const query of ['', '?task=prune']) {
    const reply = await gantry.api(`POST ${path}${query}`);
    assert.deepEqual([reply.status, reply.text], [201, '']);
  }
  assert.ok((await waiting()) <= 2);
  await gantry.service.worker.drain();
  assert.equal(await waiting(), 0);
  assert.equal((await gantry.api(`GET /projects/${id}/repository/commits`)).status, 200);
});
