/** Creating releases with job tokens. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { seedCommit } from '../../../test/support/repositories/seed_commits.ts';
import { seedPipeline, setJob } from '../../../test/support/ci/jobs.ts';
import {
  type SeededProject,
  type SeededUser,
  seedMember,
  seedProject,
  seedUser,
} from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { hashToken, generateTokenText } from '../../core/access/credentials/token_text.ts';

let gantry: TestService;
let project: SeededProject;
let developer: SeededUser;
let token: string;

before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

/** Creates a private project with one commit and a developer. */
const place = async (access_level = 30): Promise<SeededProject> => {
  const made = await seedProject(gantry, { visibility: 'private' });
  await seedMember(gantry, { user: developer.id, project: made.id, access_level });
  await seedCommit(gantry, made.id, { 'README.md': 'Hello\n' });
  return made;
};

/** Returns the token of a running job. */
const running = async (project_id: number, user: number): Promise<string> => {
  const file = 'build: { script: make }\n';
  const made = await seedPipeline(gantry, { project: project_id, file, user });
  const text = generateTokenText(randomBytes, 'glcbt');
  const columns = { status: 'running', token_hash: hashToken(text), started_at: Date.now() } as const;
  await setJob(gantry, made.jobs['build'] ?? 0, columns);
  return text;
};

beforeEach(async () => {
  developer = await seedUser(gantry);
  project = await place();
  token = await running(project.id, developer.id);
});

const ask = async (line: string, json?: object, by: string = token) =>
  await gantry.api(line, { as: null, headers: { 'job-token': by }, ...(json && { json }) });

const base = (of: { id: number } = project): string => `/projects/${of.id}/releases`;

test('lets a job create a release of its project with tag and links, as its user', async () => {
  const links = [{ name: 'site', url: 'https://example.com/' }];
  const input = { tag_name: 'v1', ref: 'main', name: 'One', description: 'news', assets: { links } };
  const made = await ask(`POST ${base()}`, input);
  assert.equal(made.status, 201, made.text);
  assert.deepEqual([made.body.author.id, made.body.name], [developer.id, 'One']);
  const link = await ask(`POST ${base()}/v1/assets/links`, { name: 'more', url: 'https://example.com/more' });
  assert.equal(link.status, 201);
  const read = await ask(`GET ${base()}/v1`);
  assert.deepEqual([read.status, read.body.assets.links.length], [200, 2]);
  assert.equal((await ask(`GET ${base()}`)).body.length, 1);
  assert.equal((await ask(`POST ${base()}`, input)).status, 409);
  assert.equal((await gantry.api(`GET /projects/${project.id}/repository/tags/v1`)).status, 200);
});

test('refuses edits and deletions of releases by a job', async () => {
  await ask(`POST ${base()}`, { tag_name: 'v1', ref: 'main' });
  for (const line of [`PUT ${base()}/v1`, `DELETE ${base()}/v1`, `DELETE ${base()}/v1/assets/links/1`]) {
    assert.equal((await ask(line, { name: 'x' })).status, 401, line);
  }
});

test('limits a job to the rights of its user: no releases by reporters, no protected tags by developers', async () => {
  const other = await place(20);
  const reporters = await running(other.id, developer.id);
  const input = { tag_name: 'v1', ref: 'main' };
  assert.equal((await ask(`POST ${base(other)}`, input, reporters)).status, 403);
  await gantry.service.platform.store.write(async (tx) => {
    const row = { project_id: project.id, name: 'stable-*', create_access_level: 40, created_at: tx.now };
    await tx.db.insertInto('protected_tags').values(row).execute();
  });
  assert.equal((await ask(`POST ${base()}`, { tag_name: 'stable-1', ref: 'main' })).status, 403);
  assert.equal((await gantry.api(`GET /projects/${project.id}/repository/tags/stable-1`)).status, 404);
  const roots = await running(project.id, 1);
  assert.equal((await ask(`POST ${base()}`, { tag_name: 'stable-1', ref: 'main' }, roots)).status, 201);
});

test('refuses releases of other projects, even if the user and the job token scope have access', async () => {
  const hidden = await place(40);
  const input = { tag_name: 'v1', ref: 'main' };
  assert.deepEqual((await ask(`POST ${base(hidden)}`, input)).body, { message: '404 Project Not Found' });
  const json = { target_project_id: project.id };
  await gantry.api(`POST /projects/${hidden.id}/job_token_scope/allowlist`, { json });
  assert.equal((await ask(`GET ${base(hidden)}`)).status, 200);
  assert.equal((await ask(`POST ${base(hidden)}`, input)).status, 403);
  await gantry.api(`PATCH /projects/${hidden.id}/job_token_scope`, { json: { enabled: false } });
  assert.equal((await ask(`POST ${base(hidden)}`, input)).status, 403);
  const roots = await running(project.id, 1);
  assert.equal((await ask(`POST ${base(hidden)}`, input, roots)).status, 403);
  assert.equal((await gantry.api(`GET /projects/${hidden.id}/repository/tags/v1`)).status, 404);
});

test('refuses releases after the job has ended', async () => {
  const { store } = gantry.service.platform;
  await store.write(
    async ({ db }) =>
      await db.updateTable('jobs').set({ status: 'success' }).where('project_id', '=', project.id).execute(),
  );
  assert.equal((await ask(`POST ${base()}`, { tag_name: 'v1', ref: 'main' })).status, 401);
});
