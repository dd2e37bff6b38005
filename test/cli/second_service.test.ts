/** One service with PostgreSQL becomes two with a bucket: both serve what the first had in its data folder. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { makePeer } from '../support/ci/fake_runner.ts';
import { startS3 } from '../support/servers/s3.ts';
import { type Place, engine, newPlace } from './gantry.ts';

let place: Place | undefined;
afterEach(async () => await place?.remove());

const token = 'glpat-second-0123456789';
const headers = { 'private-token': token, 'content-type': 'application/json' };

const send = async (url: string, line: string, body?: object): Promise<Response> => {
  const [method = '', path = ''] = line.split(' ');
  return await fetch(`${url}/api/v4${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
};

/** Runs a job with one line of log. @returns the path of its trace */
const runJob = async (url: string, words: string): Promise<string> => {
  const made = await send(url, 'POST /projects', { name: 'p', initialize_with_readme: true });
  const { id } = (await made.json()) as { id: number };
  const runner = await send(url, 'POST /user/runners', { runner_type: 'instance_type' });
  const peer = makePeer({ url }, { token: ((await runner.json()) as { token: string }).token });
  const file = { branch: 'main', content: 'a: { script: x }', commit_message: 'Add CI' };
  assert.equal((await send(url, `POST /projects/${id}/repository/files/.gitlab-ci.yml`, file)).status, 201);
  const job = await peer.take();
  await peer.run(job, { log: words });
  peer.close();
  return `/projects/${id}/jobs/${job.id}`;
};

/** Polls until the answer is as expected. */
const untilStatus = async (url: string, line: string, status: number): Promise<Response> => {
  for (let polls = 0; ; polls += 1) {
    const response = await send(url, line);
    if (response.status === status) return response;
    assert.ok(polls < 300, `${line}: ${response.status}`);
    await pause(100);
  }
};

test(
  'a second service reads and erases the log of a job from before',
  { skip: engine === 'sqlite' && 'a file serves one process' },
  async () => {
    const own = newPlace();
    place = own;
    const s3 = await startS3();
    try {
      own.env['GANTRY_GITD_SECRET'] = 's'.repeat(32);
      own.env['GANTRY_ROOT_TOKEN'] = token;
      const gitd = await own.serve(`gitd --listen 127.0.0.1:0 --root ${own.data}-repositories`);
      own.env['GANTRY_REPOSITORY_STORAGES'] = `default=${gitd.url}`;
      const alone = await own.serve();
      const job = await runJob(alone.url, 'before there were two\n');
      await alone.end('SIGTERM');
      const logs = (): string[] => globSync('traces/*/*.log', { cwd: own.data });
      assert.equal(logs().length, 1);

      const folder = { GANTRY_BACKUP_TO: `${own.data}-backups`, GANTRY_BACKUP_SCHEDULE: '0 0 1 1 *' };
      const env = { ...s3.environment, ...folder };
      assert.equal((await own.run('adopt blobs', { env })).code, 0);
      const first = await own.serve('serve', { env });
      const secrets = { GANTRY_SECRETS_FILE: join(own.data, 'secrets.json') };
      const second = await own.serve('serve', {
        env: { ...env, ...secrets, GANTRY_DATA: `${own.data}-second` },
      });
      for (const { stdout } of [first, second])
        assert.match(stdout(), /of several services, any one makes the next backup/);
      const trace = await untilStatus(second.url, `GET ${job}/trace`, 200);
      assert.equal(await trace.text(), 'before there were two\n');
      assert.equal(await (await send(first.url, `GET ${job}/trace`)).text(), 'before there were two\n');
      assert.deepEqual(logs(), []);
      const doctor = await own.run('doctor --thorough --json', {
        env: { ...env, ...secrets, GANTRY_DATA: `${own.data}-second` },
      });
      assert.match(doctor.stdout, /all job logs are there/);
      assert.equal((await send(second.url, `POST ${job}/erase`)).status, 201);
      await untilStatus(first.url, `GET ${job}/trace`, 404);
    } finally {
      await own.remove();
      await s3.close();
    }
  },
);
