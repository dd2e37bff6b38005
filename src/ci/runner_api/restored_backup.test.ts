/** Restores an older database beside newer files: reused ids must not expose files of former owners. */
import assert from 'node:assert/strict';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Peer, makePeer, seedRunner } from '../../../test/support/ci/fake_runner.ts';
import { type TestService, engine, startTestService } from '../../../test/support/service.ts';

let data: string;
before(async () => {
  data = await mkdtemp(join(tmpdir(), 'gantry-test-'));
});
after(async () => await rm(data, { recursive: true, force: true }));

const start = async (): Promise<TestService> => await startTestService({ GANTRY_DATA: data });

const post = async ({ api }: TestService, path: string, json: object): Promise<{ id: number }> => {
  const { status, body, text } = await api(`POST ${path}`, { json });
  assert.equal(status, 201, text);
  return body as { id: number };
};

/** Creates a project whose pipelines have one job. */
const addProject = async (gantry: TestService, name: string): Promise<number> => {
  const { id } = await post(gantry, '/projects', { name });
  await post(gantry, `/projects/${id}/repository/files/.gitlab-ci.yml`, {
    branch: 'main',
    content: 'only: { script: make }',
    commit_message: 'first [ci skip]',
  });
  return id;
};

const logOf = async ({ api }: TestService, project: number, job: number): Promise<[number, string]> => {
  const { status, text } = await api(`GET /projects/${project}/jobs/${job}/trace`);
  return [status, text];
};

type Ran = { id: number; statusBefore: number; log: string; key: unknown };

/** Runs a pipeline whose job prints a text and uploads an archive. */
const run = async (gantry: TestService, peer: Peer, project: number, text: string): Promise<Ran> => {
  await post(gantry, `/projects/${project}/pipeline`, { ref: 'main' });
  const { body } = await gantry.api(`GET /projects/${project}/jobs`);
  const { id } = (body as { id: number }[])[0] ?? { id: 0 };
  const [statusBefore] = await logOf(gantry, project, id);
  assert.equal((await gantry.api(`GET /projects/${project}/jobs/${id}/artifacts`)).status, 404);
  const job = await peer.take();
  assert.equal(job.id, id);
  assert.equal((await peer.trace(job, text)).status, 202);
  const archive = Buffer.from(`archive of ${text}`);
  assert.equal((await peer.upload(job, archive, { type: 'archive', format: 'raw' })).status, 201);
  const [, log] = await logOf(gantry, project, id);
  assert.equal((await peer.finish(job)).status, 200);
  return { id, statusBefore, log, key: job.body.job_info.project_key };
};

test(
  'keeps files apart when a restored database reuses the ids of a job and a project',
  {
    skip: engine !== 'sqlite',
  },
  async () => {
    const first = await start();
    const { token } = await seedRunner(first, { runner_type: 'instance_type' });
    const kept = await addProject(first, 'kept');
    await first.close();
    await copyFile(join(data, 'gantry.sqlite'), join(data, 'backup'));

    const second = await start();
    let peer = makePeer(second, { token });
    const lost = await addProject(second, 'lost');
    const secret = 'what only the first ones may know';
    const old = [await run(second, peer, kept, secret), await run(second, peer, lost, secret)];
    peer.close();
    await second.close();
    for (const ending of ['-wal', '-shm']) await rm(join(data, `gantry.sqlite${ending}`), { force: true });
    await copyFile(join(data, 'backup'), join(data, 'gantry.sqlite'));

    const third = await start();
    peer = makePeer(third, { token });
    assert.equal(await addProject(third, 'other'), lost);
    const now = [await run(third, peer, kept, 'new\n'), await run(third, peer, lost, 'new\n')];
    peer.close();
    await third.close();
    assert.deepEqual(
      now.map(({ id }) => id),
      old.map(({ id }) => id),
    );
    for (const { statusBefore, log } of now) assert.deepEqual([statusBefore, log], [404, 'new\n']);
    assert.match(String(now[0]?.key), /^[0-9a-f]{32}$/);
    assert.equal(now[0]?.key, old[0]?.key);
    assert.notEqual(now[1]?.key, old[1]?.key);
  },
);
