/** Repository fields of projects, and repositories of deleted projects. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { seedArtifact } from '../../../test/support/ci/artifacts.ts';
import { seedCommit } from '../../../test/support/repositories/seed_commits.ts';
import { seedPipeline } from '../../../test/support/ci/jobs.ts';
import { type SeededUser, seedMember, seedProject, seedUser, unique } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { openRepository } from '../../../test/support/repositories/seed_commits.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const as = ({ token }: SeededUser) => ({ as: token });

test('creates a project with a README on the requested branch', async () => {
  const user = await seedUser(gantry);
  const make = async (json: object) => {
    const body = { name: unique('project'), description: 'About it', initialize_with_readme: true, ...json };
    return await gantry.api('POST /projects', { json: body, ...as(user) });
  };
  const { status, body, text } = await make({});
  assert.equal(status, 201, text);
  assert.deepEqual([body.default_branch, body.empty_repo], ['main', false]);
  const readme = await gantry.api(`GET /projects/${body.id}/repository/files/README.md/raw`, as(user));
  assert.equal(readme.text, `# ${body.name}\n\nAbout it\n`);
  assert.equal((await make({ default_branch: 'trunk' })).body.default_branch, 'trunk');
  const without = await make({ initialize_with_readme: false, default_branch: 'trunk' });
  assert.deepEqual([without.body.default_branch, without.body.empty_repo], [null, true]);
});

test('requires an existing default branch', async () => {
  const { id } = await seedProject(gantry);
  const set = async (default_branch: string) =>
    await gantry.api(`PUT /projects/${id}`, { json: { default_branch } });
  assert.deepEqual([(await set('any')).status, (await set('any')).body.default_branch], [200, null]);
  await seedCommit(gantry, id, { a: '1' });
  await gantry.api(`POST /projects/${id}/repository/branches`, { json: { branch: 'other', ref: 'main' } });
  const missing = await set('none');
  assert.deepEqual(
    [missing.status, missing.body.message],
    [400, { base: ["Could not change HEAD: branch 'none' does not exist"] }],
  );
  assert.equal((await set('other')).body.default_branch, 'other');
  assert.equal((await gantry.api(`GET /projects/${id}/repository/branches/other`)).body.default, true);
  assert.equal((await gantry.api(`GET /projects/${id}/repository/commits/HEAD`)).status, 200);
});

test('shows and edits the merge settings', async () => {
  const { id } = await seedProject(gantry);
  const told = ({ body }: { body: Record<string, unknown> }) => [
    body['merge_method'],
    body['squash_option'],
    body['remove_source_branch_after_merge'],
  ];
  assert.deepEqual(told(await gantry.api(`GET /projects/${id}`)), ['merge', 'default_off', true]);
  const json = { merge_method: 'ff', squash_option: 'always', remove_source_branch_after_merge: false };
  assert.deepEqual(told(await gantry.api(`PUT /projects/${id}`, { json })), ['ff', 'always', false]);
});

test('shows sizes to reporters on request and the storage to administrators', async () => {
  const { id } = await seedProject(gantry);
  const [guest, reporter] = [await seedUser(gantry), await seedUser(gantry)];
  await seedMember(gantry, { user: guest.id, project: id, access_level: 10 });
  await seedMember(gantry, { user: reporter.id, project: id, access_level: 20 });
  const ask = async (user: SeededUser, query = '?statistics=true') =>
    (await gantry.api(`GET /projects/${id}${query}`, as(user))).body;
  assert.equal((await ask(reporter)).statistics.commit_count, 0);
  await seedCommit(gantry, id, { a: '1' });
  await seedCommit(gantry, id, { b: '1' });
  const { statistics, repository_storage } = await ask(reporter);
  assert.equal(statistics.commit_count, 2);
  assert.ok(statistics.repository_size > 0);
  assert.equal(statistics.storage_size, statistics.repository_size);
  assert.equal(repository_storage, undefined);
  assert.equal((await ask(guest)).statistics, undefined);
  assert.equal((await ask(reporter, '')).statistics, undefined);
  assert.equal((await gantry.api(`GET /projects/${id}`)).body.repository_storage, 'default');
  const { body } = await gantry.api('GET /projects?membership=true&statistics=true', as(reporter));
  assert.equal(body[0].statistics.commit_count, 2);
});

test('shows sizes in lists as they are, also where nothing in the database has changed', async () => {
  const { id } = await seedProject(gantry);
  const reporter = await seedUser(gantry);
  await seedMember(gantry, { user: reporter.id, project: id, access_level: 20 });
  const first = await seedCommit(gantry, id, { a: '1' });
  await seedCommit(gantry, id, { b: '1' });
  await gantry.service.worker.drain();
  const count = async (): Promise<number> =>
    (await gantry.api('GET /projects?membership=true&statistics=true', as(reporter))).body[0].statistics
      .commit_count;
  assert.deepEqual([await count(), await count()], [2, 2]);
  const repository = await openRepository(gantry, id);
  await repository.ask('refs.update', { updates: [{ ref: 'refs/heads/main', old: null, new: first }] });
  assert.equal(await count(), 1);
});

test('counts the storage of job artifacts per project', async () => {
  const [{ id }, other] = [await seedProject(gantry), await seedProject(gantry)];
  const file = 'build: { script: make }\ntest: { script: make }\n';
  for (const [project, sizes] of [
    [id, [1000, 300]],
    [other.id, [7]],
  ] as const) {
    const { jobs } = await seedPipeline(gantry, { project, file });
    for (const [at, size] of sizes.entries()) {
      const job = { id: Object.values(jobs)[at] ?? 0, project_id: project };
      await seedArtifact(gantry, job, Buffer.alloc(size));
    }
  }
  const { statistics } = (await gantry.api(`GET /projects/${id}?statistics=true`)).body;
  assert.deepEqual(
    [statistics.job_artifacts_size, statistics.storage_size - statistics.repository_size],
    [1300, 1300],
  );
});

test('removes the repository of a removed project', async () => {
  const { id } = await seedProject(gantry);
  const user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, project: id, access_level: 40 });
  const sha = await seedCommit(gantry, id, { a: '1' });
  await gantry.api(`POST /projects/${id}/statuses/${sha}`, { json: { state: 'success' }, ...as(user) });
  await gantry.api(`POST /projects/${id}/repository/commits/${sha}/comments`, {
    json: { note: 'x' },
    ...as(user),
  });
  const { store } = gantry.service.platform;
  const repository = await openRepository(gantry, id);
  assert.deepEqual(await repository.ask('repository.exists', {}), { exists: true });
  assert.equal((await gantry.api(`DELETE /projects/${id}`)).status, 202);
  const row = store.db.selectFrom('projects').select('id').where('id', '=', id);
  while ((await row.executeTakeFirst()) !== undefined) await wait(10);
  assert.deepEqual(await repository.ask('repository.exists', {}), { exists: false });
});

test('keeps commit comments of a deleted user under the ghost user', async () => {
  const { id } = await seedProject(gantry);
  const user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, project: id, access_level: 40 });
  const sha = await seedCommit(gantry, id, { a: '1' });
  const commit = `/projects/${id}/repository/commits/${sha}`;
  await gantry.api(`POST ${commit}/comments`, { json: { note: 'x' }, ...as(user) });
  await gantry.api(`POST /projects/${id}/statuses/${sha}`, { json: { state: 'success' }, ...as(user) });
  assert.equal((await gantry.api(`DELETE /users/${user.id}`)).status, 204);
  assert.match((await gantry.api(`GET ${commit}/comments`)).body[0].author.username, /^ghost/);
  assert.match((await gantry.api(`GET ${commit}/statuses`)).body[0].author.username, /^ghost/);
});

test('names the pages of README and license of a single project, to those who may read the code', async () => {
  const reader = await seedUser(gantry);
  const { id, full_path } = await seedProject(gantry);
  const path = `GET /projects/${id}`;
  assert.equal((await gantry.api(path)).body.readme_url, null);
  await seedCommit(gantry, id, { 'readme.txt': 'a', 'README.md': 'b', LICENSE: 'c', 'docs/README': 'd' });
  const blobs = `${gantry.url}/${full_path}/-/blob/main`;
  const { body } = await gantry.api(`${path}?license=true`, as(reader));
  assert.deepEqual([body.readme_url, body.license_url], [`${blobs}/README.md`, `${blobs}/LICENSE`]);
  const { body: plain } = await gantry.api(path, { as: null });
  assert.deepEqual([plain.readme_url, 'license_url' in plain], [`${blobs}/README.md`, false]);
  const [listed] = (await gantry.api(`GET /projects?search=${full_path.split('/')[1]}`)).body;
  assert.equal(listed.readme_url, null);
  await gantry.api(`PUT /projects/${id}`, { json: { repository_access_level: 'private' } });
  const hidden = (await gantry.api(`${path}?license=true`, as(reader))).body;
  assert.deepEqual([hidden.readme_url, hidden.license_url], [null, null]);
});
