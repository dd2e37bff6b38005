/** Backups in a bucket that speaks S3. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestS3, startS3 } from '../support/servers/s3.ts';
import { newPlace, newUsedPlace, type Place } from './gantry.ts';

let s3: TestS3;
let place: Place;
let env: Record<string, string>;
before(async () => {
  s3 = await startS3();
  place = await newUsedPlace();
  env = {
    GANTRY_BACKUP_TO: `s3://${s3.place.bucket}/one/two`,
    GANTRY_BACKUP_KEEP: '2',
    GANTRY_BACKUP_S3_ENDPOINT: s3.place.endpoint,
    GANTRY_BACKUP_S3_REGION: s3.place.region,
    GANTRY_BACKUP_S3_ACCESS_KEY: s3.place.access_key,
    GANTRY_BACKUP_S3_SECRET_KEY: s3.place.secret_key,
  };
});
after(async () => {
  await place.remove();
  await s3.close();
});

const ok = async (line: string, run = place.run): Promise<string> => {
  const { code, stdout, stderr } = await run(line, { env });
  assert.equal(code, 0, `${line}: ${stderr}`);
  return stdout;
};

const manifests = (): string[] => s3.keys().filter((key) => key.startsWith('one/two/backups/'));

test('are made, verified, restored, and removed beyond those that are kept', async () => {
  for (let count = 1; count <= 3; count += 1) await ok('backup create');
  assert.ok(s3.keys().every((key) => key.startsWith('one/two/')));
  assert.equal(manifests().length, 2);
  const listed = JSON.parse(await ok('backup list --json')) as { name: string }[];
  assert.deepEqual(
    listed.map(({ name }) => `one/two/backups/${name}.json`),
    manifests().toSorted(),
  );
  await ok('backup verify');
  const copy = newPlace();
  try {
    await ok('backup restore', copy.run);
    assert.match(await ok('doctor', copy.run), /ok {4}secrets of the database/);
  } finally {
    await copy.remove();
  }
});

test('belong to one instance', async () => {
  const other = newPlace();
  try {
    await (await other.serve()).end('SIGTERM');
    const { code, stderr } = await other.run('backup create', { env });
    assert.equal(code, 1);
    assert.match(stderr, /has backups of another instance/);
  } finally {
    await other.remove();
  }
});

test('are refused with wrong keys', async () => {
  const { code, stderr } = await place.run('backup create', {
    env: { ...env, GANTRY_BACKUP_S3_SECRET_KEY: 'wrong' },
  });
  assert.equal(code, 1);
  assert.match(stderr, /does not answer: .*403/);
});
