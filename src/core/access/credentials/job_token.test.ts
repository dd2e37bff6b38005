/** Which endpoints accept a job token, for how long, and which refuse it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { seedArtifact, buildZip } from '../../../../test/support/ci/artifacts.ts';
import { seedPipeline, setJob } from '../../../../test/support/ci/jobs.ts';
import {
  type SeededProject,
  type SeededUser,
  seedGroup,
  seedMember,
  seedProject,
  seedUser,
} from '../../../../test/support/seed.ts';
import { type TestService, rootToken, startTestService } from '../../../../test/support/service.ts';
import type { JobStatus } from '../../../platform/db/schema/ci.ts';
import { doors, endpoints } from '../../../app/routes.ts';
import { hashToken, generateTokenText } from './token_text.ts';

let gantry: TestService;
let project: SeededProject;
let developer: SeededUser;
/** Token of a running job that the developer started. */
let token: string;
let job: number;

before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const running = async (project_id: number, user: number): Promise<[token: string, job: number]> => {
  const file = 'build: { script: make }\n';
  const made = await seedPipeline(gantry, { project: project_id, file, user });
  const text = generateTokenText(randomBytes, 'glcbt');
  const id = made.jobs['build'] ?? 0;
  await setJob(gantry, id, { status: 'running', token_hash: hashToken(text), started_at: Date.now() });
  return [text, id];
};

beforeEach(async () => {
  project = await seedProject(gantry, { visibility: 'private' });
  developer = await seedUser(gantry);
  await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
  [token, job] = await running(project.id, developer.id);
});

const ask = async (line: string, headers: Record<string, string> = { 'job-token': token }) =>
  await gantry.api(line, { as: null, headers });
const own = async (headers?: Record<string, string>): Promise<number> =>
  (await ask('GET /job', headers)).status;

const store = () => gantry.service.platform.store;

describe('the token of a job', () => {
  it('a job token identifies its job', async () => {
    const inHeader = await ask('GET /job');
    assert.deepEqual([inHeader.status, inHeader.body.id, inHeader.body.name], [200, job, 'build']);
    const inQuery = await ask(`GET /job?job_token=${token}`, {});
    assert.deepEqual([inQuery.status, inQuery.body.id], [200, job]);
    assert.ok(!inHeader.text.includes(token));
  });

  it('is valid while the job runs or is being canceled', async () => {
    const expected: Record<JobStatus, number> = {
      created: 401,
      waiting_for_resource: 401,
      scheduled: 401,
      pending: 401,
      running: 200,
      canceling: 200,
      success: 401,
      failed: 401,
      canceled: 401,
      skipped: 401,
      manual: 401,
    };
    for (const [status, answer] of Object.entries(expected)) {
      await setJob(gantry, job, { status: status as JobStatus });
      assert.equal(await own(), answer, status);
    }
  });

  it('is invalid once its user is blocked', async () => {
    await gantry.api(`POST /users/${developer.id}/block`);
    assert.equal(await own(), 401);
    await gantry.api(`POST /users/${developer.id}/unblock`);
    assert.equal(await own(), 200);
  });

  it('is invalid for a job without a user or without a project', async () => {
    await setJob(gantry, job, { user_id: null });
    assert.equal(await own(), 401);
    await setJob(gantry, job, { user_id: developer.id });
    await store().write(
      async ({ db, now }) =>
        await db.updateTable('projects').set({ deleted_at: now }).where('id', '=', project.id).execute(),
    );
    assert.equal(await own(), 401);
  });

  it('gives no access once its user no longer sees the project', async () => {
    await gantry.api(`DELETE /projects/${project.id}/members/${developer.id}`);
    assert.equal(await own(), 404);
  });

  const basic = (login: string) => ({
    authorization: `Basic ${Buffer.from(`${login}:${token}`).toString('base64')}`,
  });
  const ways: [string, () => Record<string, string>][] = [
    ['PRIVATE-TOKEN', () => ({ 'private-token': token })],
    ['Bearer', () => ({ authorization: `Bearer ${token}` })],
    ['Basic', () => basic('gitlab-ci-token')],
    ['RUNNER-TOKEN', () => ({ 'runner-token': token })],
    ['a cookie', () => ({ cookie: `_service_session=${token}` })],
  ];
  for (const [way, headers] of ways) {
    it(`is rejected as ${way}`, async () => {
      for (const line of ['GET /job', 'GET /user', `GET /projects/${project.id}`]) {
        const { status } = await ask(line, headers());
        assert.ok(status === 401 || status === 404, `${line}: ${status}`);
      }
    });
  }

  for (const name of ['private_token', 'access_token', 'bearer_token']) {
    it(`is rejected as ${name}`, async () => {
      assert.equal((await ask(`GET /job?${name}=${token}`, {})).status, 401);
    });
  }

  it('a job token must be a single text', async () => {
    assert.equal((await ask(`GET /job?job_token[]=${token}`, {})).status, 401);
    assert.equal((await ask(`GET /job?job_token=${token}&job_token=${token}`, {})).status, 401);
    assert.equal((await ask('GET /job?job_token=', {})).status, 401);
    assert.equal(await own({ 'job-token': '' }), 401);
    assert.equal(await own({ 'job-token': hashToken(token) }), 401);
    assert.equal(await own({ 'job-token': rootToken }), 401);
  });

  it('has lower precedence than a user token and higher than the cookie', async () => {
    const both = { 'job-token': token, 'private-token': developer.token };
    assert.equal((await ask('GET /user', both)).status, 200);
    assert.equal((await ask('GET /job', both)).status, 404);
    assert.equal((await ask('GET /user', { ...both, 'private-token': 'nobody' })).status, 401);
  });

  it('a job token never grants administrator rights', async () => {
    const [roots] = await running(project.id, 1);
    const headers = { 'job-token': roots };
    assert.equal((await ask('GET /job', headers)).status, 200);
    assert.equal((await ask('GET /job', { ...headers, sudo: developer.username })).status, 403);
    assert.equal((await ask('GET /users?external=true', headers)).status, 401);
  });
});

/** Fills the placeholders of an endpoint's path. */
const filled = (path: string): string =>
  path.replace(':id', String(project.id)).replaceAll(/:\w+/g, '1').replaceAll('*', 'x');

it('no other endpoint accepts a job token', async () => {
  const [roots] = await running(project.id, 1);
  const closed = [...endpoints.map((one) => ({ ...one, path: `/api/v4${one.path}` })), ...doors].filter(
    ({ audience, jobTokens }) => audience !== 'anyone' && jobTokens !== true,
  );
  assert.ok(closed.length > 300);
  for (const { method, path } of closed) {
    const { status } = await fetch(`${gantry.url}${filled(path)}`, {
      method,
      headers: { 'job-token': roots },
    });
    assert.equal(status, 401, `${method} ${path}`);
  }
});

describe('the viewer of a job token', () => {
  it("sees the job's own project and public projects, regardless of its user's other roles", async () => {
    const group = await seedGroup(gantry, { owner: developer.id });
    const places = [
      await seedProject(gantry, { namespace: group.id, visibility: 'private' }),
      await seedProject(gantry, { namespace: group.id, visibility: 'internal' }),
      await seedProject(gantry, { namespace: group.id, visibility: 'public' }),
    ];
    for (const [at, { id }] of places.entries()) {
      const [, theirs] = await running(id, developer.id);
      const line = `GET /projects/${id}/jobs/${theirs}/artifacts`;
      await seedArtifact(gantry, { id: theirs, project_id: id }, await buildZip({ 'a.txt': 'a' }));
      const { status, body } = await ask(line);
      if (at < 2) assert.deepEqual(body, { message: '404 Project Not Found' });
      else assert.equal(status, 200);
      const [ofIt] = await running(id, developer.id);
      assert.equal((await ask(line, { 'job-token': ofIt })).status, 200);
    }
  });
});
