import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { blobCases, broken, bytes } from '../../../test/support/blob_cases.ts';
import { type TestS3, startS3 } from '../../../test/support/servers/s3.ts';
import { Failure } from '../errors.ts';
import type { Blobs } from './blob_files.ts';
import { guardBucket } from './guarded_bucket.ts';
import { openBucket } from './s3_client.ts';
import { openS3, removeAbandoned } from './s3_blobs.ts';
import { partSize } from './multipart_upload.ts';
import { bucketMarker } from './store_marker.ts';

let s3: TestS3;
let blobs: Blobs;
const logged: object[] = [];
const day = 86_400_000;

const bucketOf = (overrides: Partial<TestS3['place']> = {}) =>
  openBucket({ ...s3.place, ...overrides }, (details) => void logged.push(details));

before(async () => {
  s3 = await startS3();
  blobs = openS3(bucketOf());
});
after(async () => await s3.close());

blobCases(() => blobs);

const isUnavailable = (error: unknown): boolean => error instanceof Failure && error.status === 503;

const large = (): Buffer[] => [
  Buffer.alloc(partSize, 'a'),
  Buffer.alloc(partSize, 'b'),
  Buffer.alloc(3, 'c'),
];

test('sends small content in one request, and leaves no parts of large content', async () => {
  s3.asked.length = 0;
  const small = await blobs.put('sizes', bytes('small'));
  assert.equal(s3.asked.length, 1);
  const exact = await blobs.put('sizes', bytes(Buffer.alloc(partSize)));
  assert.equal(s3.asked.length, 2);
  const more = await blobs.put('sizes', bytes(Buffer.alloc(partSize), 'x'));
  assert.equal(more.size, partSize + 1);
  const keys = [small, exact, more].map(({ sha256 }) => `sizes/${sha256.slice(0, 2)}/${sha256}`);
  assert.deepEqual(
    s3.keys().filter((key) => /^(?:sizes|unfinished)\//.test(key)),
    keys.toSorted(),
  );
  assert.equal(s3.openUploads(), 0);
});

test('an interrupted upload leaves no key', async () => {
  const before = s3.keys();
  await assert.rejects(blobs.put('b', broken('half')), /broken/);
  s3.asked.length = 0;
  await assert.rejects(blobs.put('b', broken(...large())), /broken/);
  assert.deepEqual(s3.keys(), before);
  // The upload was aborted, so its parts are gone, which no list of keys shows.
  assert.ok(s3.asked.some((line) => line.startsWith('PUT /gantry-bytes/unfinished/')));
  assert.equal(s3.openUploads(), 0);
});

test('keeps unfinished uploads for a day', async () => {
  const bucket = bucketOf();
  await bucket.ask({ method: 'PUT', key: 'unfinished/left', body: Buffer.from('half') });
  const { sha256 } = await blobs.put('kept', bytes('kept'));
  await removeAbandoned(bucket, Date.now() + day / 2);
  assert.ok(s3.keys().includes('unfinished/left'));
  await removeAbandoned(bucket, Date.now() + day + 60_000);
  assert.ok(!s3.keys().includes('unfinished/left'));
  assert.equal(await blobs.has('kept', sha256), true);
});

test('aborts uploads of crashed processes after a day, and no others', async () => {
  const bucket = bucketOf();
  const begin = async (key: string): Promise<void> => {
    const { text: begun } = await bucket.ask({ method: 'POST', key, query: { uploads: '' } });
    const uploadId = /<UploadId>([^<]+)</.exec(begun)?.[1] ?? '';
    await bucket.ask({ method: 'PUT', key, query: { partNumber: '1', uploadId }, body: Buffer.from('part') });
  };
  await begin('unfinished/of-a-dead-process');
  await begin('another/program');
  await removeAbandoned(bucket, Date.now() + day / 2);
  assert.equal(s3.openUploads(), 2);
  await removeAbandoned(bucket, Date.now() + day + 60_000);
  assert.equal(s3.openUploads(), 1);
  assert.ok(s3.asked.includes('DELETE /gantry-bytes/unfinished/of-a-dead-process'));
  assert.ok(!s3.asked.includes('DELETE /gantry-bytes/another/program'));
});

test('aborts an upload that takes so long that it could count as abandoned', async (context) => {
  const before = s3.openUploads();
  context.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const slow = async function* slow(): AsyncGenerator<Buffer> {
    yield Buffer.alloc(partSize, 'a');
    yield Buffer.alloc(partSize, 'b');
    context.mock.timers.tick(day - 3_600_000);
    yield await Promise.resolve(Buffer.from('c'));
  };
  await assert.rejects(blobs.put('slow', Readable.from(slow())), isUnavailable);
  assert.equal(s3.openUploads(), before);
});

for (const how of [500, 503, 429, 'cut'] as const) {
  test(`retries after ${how}`, async () => {
    s3.fail(3, how);
    const { sha256 } = await blobs.put('again', bytes(`once ${how}`));
    s3.fail(3, how);
    assert.equal(await text((await blobs.get('again', sha256))!), `once ${how}`);
    s3.fail(2, how);
    assert.equal(await blobs.has('again', sha256), true);
    s3.fail(2, how);
    await blobs.remove('again', sha256);
    assert.equal(await blobs.has('again', sha256), false);
  });
}

test('retries a part of an upload', async () => {
  const parts = large();
  const slow = async function* slow(): AsyncGenerator<Buffer> {
    for (const part of parts) {
      s3.fail(2, 'cut');
      yield await Promise.resolve(part);
    }
  };
  const { sha256 } = await blobs.put('again', Readable.from(slow()));
  assert.ok((await buffer((await blobs.get('again', sha256))!)).equals(Buffer.concat(parts)));
});

test('answers 503 while the store is unreachable, and recovers', async () => {
  const { sha256 } = await blobs.put('away', bytes('kept'));
  logged.length = 0;
  await s3.stop();
  await assert.rejects(blobs.get('away', sha256), isUnavailable);
  await assert.rejects(blobs.has('away', sha256), isUnavailable);
  await assert.rejects(blobs.put('away', bytes('x')), isUnavailable);
  await assert.rejects(blobs.put('away', bytes(...large())), isUnavailable);
  await assert.rejects(blobs.removeArea('away'), isUnavailable);
  await s3.start();
  assert.deepEqual(logged[0], {
    method: 'GET',
    key: `away/${sha256.slice(0, 2)}/${sha256}`,
    cause: 'ECONNREFUSED',
  });
  assert.equal(await text((await blobs.get('away', sha256))!), 'kept');
});

test('answers 503 and logs the reason for a rejected key or a missing bucket', async () => {
  for (const [wrong, status, code] of [
    [{ secret_key: 'another' }, 403, 'SignatureDoesNotMatch'],
    [{ access_key: 'nobody' }, 403, 'InvalidAccessKeyId'],
    [{ bucket: 'elsewhere' }, 404, 'NoSuchBucket'],
  ] as const) {
    const other = openS3(bucketOf(wrong));
    logged.length = 0;
    await assert.rejects(other.get('a', '0'.repeat(64)), isUnavailable);
    assert.deepEqual({ ...logged[0], key: '' }, { method: 'GET', key: '', status, code });
    await assert.rejects(other.put('a', bytes('x')), isUnavailable);
    assert.ok(!JSON.stringify(logged).includes('another'));
  }
});

test('a link gives access to one blob only', async () => {
  const { sha256 } = await blobs.put('link', bytes('linked content'));
  const link = await blobs.link('link', sha256, "it's ü (1).zip");
  const answer = await fetch(link!);
  assert.equal(await answer.text(), 'linked content');
  assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="it_s____1_.zip"');
  const other = await blobs.put('link', bytes('another'));
  for (const url of [link!.replaceAll(sha256, other.sha256), link!.replace('Expires=600', 'Expires=6000')]) {
    assert.notEqual(url, link);
    assert.equal((await fetch(url)).status, 403);
  }
  assert.equal(await openS3(bucketOf({ public_endpoint: null })).link('link', sha256, ''), null);
  const { length } = 'linked content';
  assert.ok(await blobs.link('link', sha256, '', length));
  await assert.rejects(blobs.link('link', sha256, '', length - 1), /damaged/);
  assert.equal(await blobs.link('link', '0'.repeat(64), '', length), null);
});

test('refuses a bucket of another instance, at the first request and after an outage', async () => {
  const marker = bucketMarker(bucketOf());
  const openAs = (instance: string): Blobs =>
    openS3(
      guardBucket(bucketOf(), instance, () => undefined),
      instance,
    );
  await marker.claim('one');
  const [own, foreign] = [openAs('one'), openAs('two')];
  const { sha256 } = await own.put('guarded', bytes('mine'));
  await own.check();
  const keys = s3.keys();
  await assert.rejects(foreign.check(), isUnavailable);
  await assert.rejects(foreign.put('guarded', bytes('theirs')), isUnavailable);
  await assert.rejects(foreign.get('guarded', sha256), isUnavailable);
  await assert.rejects(foreign.link('guarded', sha256, 'file'), isUnavailable);
  await assert.rejects(foreign.removeArea('guarded'), isUnavailable);
  assert.deepEqual(s3.keys(), keys);
  await s3.stop();
  await assert.rejects(own.has('guarded', sha256), isUnavailable);
  await s3.start();
  await marker.claim('two');
  await assert.rejects(own.has('guarded', sha256), isUnavailable);
  await assert.rejects(own.check(), isUnavailable);
  assert.equal(await foreign.has('guarded', sha256), true);
  await marker.claim('one');
  assert.equal(await own.has('guarded', sha256), true);
});
