/** What the token of a job opens, and for how long; and everything that it does not. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { seedArtifact, zipOf } from '../../test/support/artifacts.ts';
import { seedPipeline, setJob } from '../../test/support/jobs.ts';
import {
  type SeededProject,
  type SeededUser,
  seedGroup,
  seedMember,
  seedProject,
  seedUser,
} from '../../test/support/seed.ts';
import { type TestService, rootToken, startTestService } from '../../test/support/service.ts';
import type { JobStatus } from '../db/schema_ci.ts';
import { doors, endpoints } from '../routes.ts';
import { hashToken, newTokenText } from './token_text.ts';

let gantry: TestService;
let project: SeededProject;
let developer: SeededUser;
/** Of a job of the developer's, which runs. */
let token: string;
let job: number;

before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const running = async (project_id: number, user: number): Promise<[token: string, job: number]> => {
  const file = 'build: { script: make }\n';
  const made = await seedPipeline(gantry, { project: project_id, file, user });
  const text = newTokenText(randomBytes, 'glcbt');
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
  it('tells which job it is of', async () => {
    const inHeader = await ask('GET /job');
    assert.deepEqual([inHeader.status, inHeader.body.id, inHeader.body.name], [200, job, 'build']);
    const inQuery = await ask(`GET /job?job_token=${token}`, {});
    assert.deepEqual([inQuery.status, inQuery.body.id], [200, job]);
    assert.ok(!inHeader.text.includes(token));
  });

  it('is good as long as the job runs, and while it is being cancelled', async () => {
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

  it('is no longer good once its user is blocked', async () => {
    await gantry.api(`POST /users/${developer.id}/block`);
    assert.equal(await own(), 401);
    await gantry.api(`POST /users/${developer.id}/unblock`);
    assert.equal(await own(), 200);
  });

  it('is of nobody without a user, and of nothing without a project', async () => {
    await setJob(gantry, job, { user_id: null });
    assert.equal(await own(), 401);
    await setJob(gantry, job, { user_id: developer.id });
    await store().write(
      async ({ db, now }) =>
        await db.updateTable('projects').set({ deleted_at: now }).where('id', '=', project.id).execute(),
    );
    assert.equal(await own(), 401);
  });

  it('opens nothing to a user who no longer sees the project', async () => {
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
    it(`is nobody's as ${way}`, async () => {
      for (const line of ['GET /job', 'GET /user', `GET /projects/${project.id}`]) {
        const { status } = await ask(line, headers());
        assert.ok(status === 401 || status === 404, `${line}: ${status}`);
      }
    });
  }

  for (const name of ['private_token', 'access_token', 'bearer_token']) {
    it(`is nobody's as ${name}`, async () => {
      assert.equal((await ask(`GET /job?${name}=${token}`, {})).status, 401);
    });
  }

  it('is text, once', async () => {
    assert.equal((await ask(`GET /job?job_token[]=${token}`, {})).status, 401);
    assert.equal((await ask(`GET /job?job_token=${token}&job_token=${token}`, {})).status, 401);
    assert.equal((await ask('GET /job?job_token=', {})).status, 401);
    assert.equal(await own({ 'job-token': '' }), 401);
    assert.equal(await own({ 'job-token': hashToken(token) }), 401);
    assert.equal(await own({ 'job-token': rootToken }), 401);
  });

  it('counts after that of a user, and before the cookie', async () => {
    const both = { 'job-token': token, 'private-token': developer.token };
    assert.equal((await ask('GET /user', both)).status, 200);
    assert.equal((await ask('GET /job', both)).status, 404);
    assert.equal((await ask('GET /user', { ...both, 'private-token': 'nobody' })).status, 401);
  });

  it('makes nobody an administrator', async () => {
    const [roots] = await running(project.id, 1);
    const headers = { 'job-token': roots };
    assert.equal((await ask('GET /job', headers)).status, 200);
    assert.equal((await ask('GET /job', { ...headers, sudo: developer.username })).status, 403);
    assert.equal((await ask('GET /users?external=true', headers)).status, 401);
  });
});

/** An endpoint's path with something in each place. */
const filled = (path: string): string =>
  path.replace(':id', String(project.id)).replaceAll(/:\w+/g, '1').replaceAll('*', 'x');

it('no other endpoint takes the token of a job', async () => {
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

describe('what an endpoint that takes it sees', () => {
  it("is the job's own project, and what is public, whatever its user may elsewhere", async () => {
    const group = await seedGroup(gantry, { owner: developer.id });
    const places = [
      await seedProject(gantry, { namespace: group.id, visibility: 'private' }),
      await seedProject(gantry, { namespace: group.id, visibility: 'internal' }),
      await seedProject(gantry, { namespace: group.id, visibility: 'public' }),
    ];
    for (const [at, { id }] of places.entries()) {
      const [, theirs] = await running(id, developer.id);
      const line = `GET /projects/${id}/jobs/${theirs}/artifacts`;
      await seedArtifact(gantry, { id: theirs, project_id: id }, await zipOf({ 'a.txt': 'a' }));
      const { status, body } = await ask(line);
      if (at < 2) assert.deepEqual(body, { message: '404 Project Not Found' });
      else assert.equal(status, 200);
      const [ofIt] = await running(id, developer.id);
      assert.equal((await ask(line, { 'job-token': ofIt })).status, 200);
    }
  });
});
