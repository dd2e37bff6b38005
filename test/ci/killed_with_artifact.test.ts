/** A service killed between storing an artifact and inserting its row removes both eventually. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type Place, call, newPlace } from '../crash/process.ts';
import { makePeer } from '../support/ci/fake_runner.ts';
import { type TestS3, startS3 } from '../support/servers/s3.ts';
import { until } from '../support/until.ts';

const preload = pathToFileURL(join(import.meta.dirname, '../support/machine/kill_at_effect.ts')).href;
const hour = 3_600_000;

let s3: TestS3;
before(async () => {
  s3 = await startS3();
});
after(async () => await s3.close());

/** A running job, in a service that is killed at this moment. */
const begin = async (place: Place, effect: string) => {
  const service = await place.start({ node: [`--import=${preload}?program=service&effect=${effect}`] });
  const { id } = (await call(service.url, 'POST /projects', { name: 'killed' })).body;
  const made = await call(service.url, `POST /projects/${id}/repository/files/.gitlab-ci.yml`, {
    branch: 'main',
    commit_message: 'Begin',
    content: 'job: { script: x }',
  });
  assert.equal(made.status, 201);
  const runner = await call(service.url, 'POST /user/runners', { runner_type: 'instance_type' });
  const peer = makePeer(service, { token: runner.body.token });
  return { service, project: Number(id), peer, job: await peer.take() };
};

const countOf = async (place: Place): Promise<number> =>
  Number((await place.query('select count(*) as count from byte_holds'))[0]?.['count']);

const cases: [name: string, filesOf: (place: Place, project: number) => string[]][] = [
  [
    'in the data folder',
    ({ data }, project) =>
      readdirSync(join(data, 'blobs/projects', String(project), 'artifacts'), {
        recursive: true,
        withFileTypes: true,
      })
        .filter((entry) => entry.isFile())
        .map(({ name }) => name),
  ],
  [
    'in a bucket',
    (_place, project) => s3.keys().filter((key) => key.startsWith(`projects/${project}/artifacts/`)),
  ],
];

for (const [name, filesOf] of cases) {
  describe(name, () => {
    test('deletes unreferenced bytes and their claim an hour later', async () => {
      const place = newPlace();
      try {
        if (name === 'in a bucket') Object.assign(place.env, s3.environment);
        const { service, project, peer, job } = await begin(place, 'artifact.placed');
        await assert.rejects(peer.upload(job, Buffer.from('of one who dies')));
        assert.equal(await service.exit, null, 'it was not killed');
        peer.close();
        assert.deepEqual([filesOf(place, project).length, await countOf(place)], [1, 1]);
        const early = await place.start();
        await wait(500);
        early.signal('SIGTERM');
        await early.exit;
        assert.deepEqual([filesOf(place, project).length, await countOf(place)], [1, 1]);
        await place.change(`update byte_holds set created_at = created_at - ${hour}`);
        await place.start();
        await until('the bytes are removed', async () => (await countOf(place)) === 0);
        assert.deepEqual(filesOf(place, project), []);
        assert.deepEqual(await place.query('select id from artifacts'), []);
      } finally {
        await place.remove();
      }
    });
  });
}
