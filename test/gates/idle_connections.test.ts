/** Thousands of connections that send nothing more: others are served meanwhile, and each takes little memory. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { after, before, test } from 'node:test';
import { collectGarbage } from '../support/machine/retained_memory.ts';
import { seedPushed } from '../support/ci/pipelines.ts';
import { seedRunner } from '../support/ci/fake_runner.ts';
import { seedProject } from '../support/seed.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** Of each kind. */
const many = 500;
/** Bytes of both ends of a connection, which are in this process. */
const mostEach = 30_000;

let gantry: TestService;
const sockets: Socket[] = [];
before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'warn' });
});
after(async () => {
  for (const socket of sockets) socket.destroy();
  await gantry.close();
});

const used = async (): Promise<number> => {
  await collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const whole = 'GET /api/v4/version HTTP/1.1\r\nhost: x\r\n\r\n';
const body = 'POST /api/v4/projects HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{';

/** Opens a connection, sends a text, and waits for the answer if it is a whole request. */
const open = async (text: string): Promise<void> => {
  const { hostname, port } = new URL(gantry.url);
  const socket = connect({ host: hostname, port: Number(port) });
  sockets.push(socket);
  await once(socket, 'connect');
  if (text !== '') socket.write(text);
  if (text === whole) await once(socket, 'data');
};

test('serves others beside 2,000 idle connections', async () => {
  const { id } = await seedProject(gantry);
  const request = async (title: string): Promise<void> => {
    const made = await gantry.api(`POST /projects/${id}/issues`, { json: { title } });
    assert.equal(made.status, 201);
    const { status, body: issues } = await gantry.api(`GET /projects/${id}/issues`);
    assert.deepEqual([status, issues[0].title], [200, title]);
  };
  await request('Before');
  const before = await used();
  for (const text of ['', whole.slice(0, 20), body, whole]) {
    for (let at = 0; at < many; at += 50) await Promise.all(Array.from({ length: 50 }, () => open(text)));
    await request(`After ${sockets.length}`);
  }
  assert.equal(sockets.length, 4 * many);
  const each = ((await used()) - before) / sockets.length;
  assert.ok(each < mostEach, `${Math.round(each)} bytes for each`);
  assert.deepEqual(gantry.logged(), []);
});

const polls = 1_000;

test('holds 1,000 requests of runners for a job, and gives it to one of them', async () => {
  const project = await seedPushed(gantry);
  const { token } = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id] });
  const info = { features: {} };
  const none = await gantry.api('POST /jobs/request', { as: null, json: { token, info } });
  assert.equal(none.status, 204);
  const json = JSON.stringify({ token, info, last_update: none.headers.get('x-gitlab-last-update') });
  const poll = [
    'POST /api/v4/jobs/request HTTP/1.1',
    'host: x',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(json)}`,
    '',
    json,
  ].join('\r\n');
  const first = sockets.length;
  const before = await used();
  for (let at = 0; at < polls; at += 50) await Promise.all(Array.from({ length: 50 }, () => open(poll)));
  const answers: string[] = [];
  for (const socket of sockets.slice(first))
    socket.on('data', (bytes: Buffer) => void answers.push(bytes.toString('latin1').slice(0, 12)));
  await project.push('a: { script: make }');
  await until('a runner has the job', () => answers.includes('HTTP/1.1 201'));
  assert.deepEqual(
    answers.filter((line) => line.startsWith('HTTP/1.1 ')),
    ['HTTP/1.1 201'],
  );
  const each = ((await used()) - before) / polls;
  assert.ok(each < mostEach, `${Math.round(each)} bytes for each`);
  assert.deepEqual(gantry.logged(), []);
});
