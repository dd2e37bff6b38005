/** `gantry doctor --thorough` finds what is missing or damaged, and says what to do. */
import assert from 'node:assert/strict';
import { globSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { makePeer } from '../support/ci/fake_runner.ts';
import { startS3 } from '../support/servers/s3.ts';
import { type Place, newPlace } from './gantry.ts';

let place: Place | undefined;
afterEach(async () => await place?.remove());

const token = 'glpat-thorough-0123456789';

/** Creates two projects, each with a commit and two uploads. */
const filled = async (env: Record<string, string> = {}): Promise<Place> => {
  const own = newPlace();
  place = own;
  const running = await own.serve('serve', { env: { ...env, GANTRY_ROOT_TOKEN: token } });
  const post = async (path: string, body: object | FormData): Promise<void> => {
    const isForm = body instanceof FormData;
    const response = await fetch(`${running.url}/api/v4/${path}`, {
      method: 'POST',
      headers: { 'private-token': token, ...(!isForm && { 'content-type': 'application/json' }) },
      body: isForm ? body : JSON.stringify(body),
    });
    assert.equal(response.status, 201, await response.text());
  };
  for (const id of [1, 2]) {
    await post('projects', { name: `p${id}` });
    const content = { branch: 'main', content: 'text'.repeat(100), commit_message: 'first' };
    await post(`projects/${id}/repository/files/file`, content);
    for (const text of ['one', 'two']) {
      const form = new FormData();
      form.append('file', new Blob([`${text} of ${id}`]), `${text}.txt`);
      await post(`projects/${id}/uploads`, form);
    }
  }
  await running.end('SIGTERM');
  return own;
};

type Check = { state: string; check: string; detail: string; advice?: string };

const failing = async ({ run }: Place, env: Record<string, string> = {}): Promise<string[]> => {
  const { stdout } = await run('doctor --thorough --json', { env });
  const { checks } = JSON.parse(stdout) as { checks: Check[] };
  return checks
    .filter(({ state }) => state === 'fail')
    .map(({ check, detail, advice = '' }) => `${check}: ${detail}: ${advice}`);
};

test('reports a missing repository, a damaged object, a damaged upload and a missing one', async () => {
  const own = await filled();
  const { code, stdout, stderr } = await own.run('doctor --thorough');
  assert.equal(code, 0, stdout);
  assert.match(stderr, /^repositories checked: 2 of 2$/m);
  assert.match(stderr, /^artifacts and uploads checked: 4 of 4$/m);
  const folders = globSync('repositories/default/@hashed/*/*/*.git', { cwd: own.data }).toSorted();
  assert.equal(folders.length, 2);
  const [gone = '', broken = ''] = folders.map((path) => join(own.data, path));
  renameSync(gone, `${own.data}/moved.git`);
  const [object = ''] = globSync('objects/??/*', { cwd: broken });
  rmSync(join(broken, object));
  writeFileSync(join(broken, object), 'damaged');
  const [first = '', second = ''] = globSync('blobs/projects/1/??/*', { cwd: own.data });
  writeFileSync(join(own.data, first), 'xxx of 1');
  rmSync(join(own.data, second));
  const failures = await failing(own);
  assert.equal(failures.length, 4, failures.join('\n'));
  const text = failures.join('\n');
  assert.match(text, /^repository: root\/p\d \(project \d\) is missing: \S+: restore it from a backup/m);
  assert.match(text, /^repository: root\/p\d \(project \d\) is damaged, .*: restore it/m);
  assert.match(text, /^upload: upload \d of root\/p1 is damaged: .*restore it from a backup/m);
  assert.match(text, /^upload: upload \d of root\/p1 is missing: .*restore it from a backup/m);
});

test('reports logs that are missing, shorter or changed', async () => {
  const own = newPlace();
  place = own;
  const running = await own.serve('serve', { env: { GANTRY_ROOT_TOKEN: token } });
  const post = async (path: string, body: object): Promise<{ token: string }> => {
    const headers = { 'private-token': token, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(`${running.url}/api/v4/${path}`, init);
    assert.equal(response.status, 201);
    return (await response.json()) as { token: string };
  };
  const runner = await post('user/runners', { runner_type: 'instance_type', run_untagged: true });
  await post('projects', { name: 'p' });
  const content = [1, 2, 3, 4].map((at) => `job${at}: { script: make }\n`).join('');
  const commit = { branch: 'main', content, commit_message: 'first' };
  await post('projects/1/repository/files/.gitlab-ci.yml', commit);
  const peer = makePeer({ url: running.url }, { token: runner.token });
  for (const _of of [1, 2, 3, 4]) {
    const job = await peer.take();
    await peer.trace(job, `log of ${job.id}\n`);
    assert.equal((await peer.finish(job)).status, 200);
  }
  peer.close();
  await running.end('SIGTERM');
  const { code, stdout, stderr } = await own.run('doctor --thorough');
  assert.equal(code, 0, stdout);
  assert.match(stderr, /^job logs checked: 4 of 4$/m);
  const fileOf = (id: number): string =>
    join(own.data, globSync(`traces/1/${id}-*.log`, { cwd: own.data })[0] ?? '');
  rmSync(fileOf(1));
  writeFileSync(fileOf(2), 'log');
  writeFileSync(fileOf(3), 'LOG of 3\n');
  const failures = await failing(own);
  assert.equal(failures.length, 3, failures.join('\n'));
  const problems = ['is missing', 'is damaged: 3 bytes in place of 9', 'is damaged: its content has another'];
  for (const [at, problem] of problems.entries())
    assert.match(
      failures[at] ?? '',
      new RegExp(`^job log: log of job ${at + 1} of root/p ${problem}.*erase`),
    );
});

test('checks uploads in a bucket', async () => {
  const s3 = await startS3();
  try {
    const own = await filled(s3.environment);
    assert.deepEqual(await failing(own, s3.environment), []);
    const { openBucket } = await import('../../src/platform/blob/s3_client.ts');
    const bucket = openBucket(s3.place, () => undefined);
    const [first = '', second = ''] = s3.keys().filter((key) => key.startsWith('projects/'));
    await bucket.ask({ method: 'PUT', key: first, body: Buffer.from('xxx of 1') });
    await bucket.find({ method: 'DELETE', key: second });
    const failures = (await failing(own, s3.environment)).join('\n');
    assert.match(failures, /^upload: upload \d of root\/p1 is damaged: /m);
    assert.match(failures, /^upload: upload \d of root\/p1 is missing: /m);
  } finally {
    await s3.close();
  }
});
