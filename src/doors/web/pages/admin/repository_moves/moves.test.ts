/** The administrators' page of moves between repository storages. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import { seedProject, unique } from '../../../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { type Visitor, contentIn, openVisitor } from '../../../../../../test/support/visitor.ts';

const path = '/admin/repository_moves';
const password = 'correct horse';
let gantry: TestService;
let admin: Visitor;
let project: { id: number; full_path: string };

const drain = async (): Promise<void> => await gantry.service.worker.drain();

const storageOf = async (): Promise<string> =>
  (await gantry.api(`GET /projects/${project.id}`)).body.repository_storage;

before(async () => {
  gantry = await startTestService({ GANTRY_REPOSITORY_STORAGES: 'default,other' });
  const username = unique('admin');
  const json = { username, name: username, email: `${username}@example.com`, password, admin: true };
  await gantry.api('POST /users', { json });
  admin = openVisitor(gantry);
  await admin.signIn(username, password);
  project = await seedProject(gantry);
  await seedCommit(gantry, project.id, { 'a.txt': 'one' });
});
after(async () => await gantry.close());

it('says that no repository was moved yet', async () => {
  const shown = contentIn(await admin.get(path));
  assert.match(shown, /2 storages: default, other/);
  assert.match(shown, /No moves/);
});

it('moves a repository, and shows the state', async () => {
  const asked = { project: project.full_path, destination_storage_name: 'other' };
  const { status, location } = await admin.post(path, asked);
  assert.deepEqual([status, location], [303, path]);
  assert.match((await admin.get(path)).text, /was scheduled/);
  // A busy machine may need a second attempt.
  for (let tries = 0; tries < 10 && (await storageOf()) !== 'other'; tries += 1) await drain();
  assert.equal(await storageOf(), 'other');
  const shown = contentIn(await admin.get(path));
  assert.match(
    shown,
    new RegExp(`${project.full_path}</a></th>\\s*<td>default</td>\\s*<td>other</td>\\s*<td>Finished`),
  );
});

it('says what is wrong, and moves nothing', async () => {
  for (const [asked, said] of [
    [{ project: 'no/such', destination_storage_name: '' }, /Project was not found/],
    [
      { project: project.full_path, destination_storage_name: 'other' },
      /the storage that the repository is in/,
    ],
    [{ project: project.full_path, destination_storage_name: 'nowhere' }, /is not included in the list/],
    [{ project: 'x'.repeat(1_001), destination_storage_name: 'other' }, /Project is too long/],
  ] as const) {
    const { status, text } = await admin.post(path, asked);
    assert.equal(status, 422, text);
    assert.match(text, said);
    assert.ok(text.includes(`value="${asked.project}"`));
  }
  assert.equal(await storageOf(), 'other');
  assert.match(contentIn(await admin.get(path)), /1 move\b/);
});

it('moves all repositories of a storage', async () => {
  const same = { source_storage_name: 'other', destination_storage_name: 'other' };
  assert.equal((await admin.post(`${path}/all`, same)).status, 422);
  const { status } = await admin.post(`${path}/all`, { ...same, destination_storage_name: 'default' });
  assert.equal(status, 303);
  await drain();
  await drain();
  assert.equal(await storageOf(), 'default');
});
