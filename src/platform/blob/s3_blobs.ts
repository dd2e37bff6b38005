/** Content-addressed blobs in a bucket that speaks S3. Keys equal the paths in `blob_files.ts`. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { damagedFile, unavailable } from '../errors.ts';
import { type Blobs, getBlobKey, placeAtOnce } from './blob_files.ts';
import { requireBucketMarker } from './guarded_bucket.ts';
import { abortUploads, beginUpload, inParts, unfinished } from './multipart_upload.ts';
import type { Bucket } from './s3_client.ts';
import { dayMilliseconds } from '../time.ts';

/** Milliseconds after which an unfinished upload counts as abandoned. No upload takes as long. */
const abandoned = dayMilliseconds;
/** Keys removed in parallel. */
const abreast = 8;

type Listed = { key: string; modified: number };

/** Lists the first thousand keys with a prefix. */
const list = async (bucket: Bucket, prefix: string): Promise<Listed[]> => {
  const { text } = await bucket.ask({ query: { 'list-type': '2', prefix } });
  return [...text.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, one = '']) => ({
    key: /<Key>([^<]*)<\/Key>/.exec(one)?.[1] ?? '',
    modified: Date.parse(/<LastModified>([^<]*)<\/LastModified>/.exec(one)?.[1] ?? ''),
  }));
};

const removeKeys = async (bucket: Bucket, keys: readonly string[]): Promise<void> => {
  for (let at = 0; at < keys.length; at += abreast) {
    const some = keys.slice(at, at + abreast);
    await Promise.all(some.map(async (key) => await bucket.find({ method: 'DELETE', key })));
  }
};

/** Removes uploads of crashed processes. Keeps uploads younger than a day, because they may be in progress. */
export const removeAbandoned = async (bucket: Bucket, now: number): Promise<void> => {
  const stale = (await list(bucket, unfinished)).filter(({ modified }) => modified < now - abandoned);
  await removeKeys(
    bucket,
    stale.map(({ key }) => key),
  );
  await abortUploads(bucket, now - abandoned);
};

const put =
  (bucket: Bucket): Blobs['put'] =>
  async (area, content, placing = placeAtOnce) => {
    const digest = createHash('sha256');
    let size = 0;
    const measure = async function* measure(): AsyncGenerator<Buffer> {
      for await (const chunk of content as AsyncIterable<Buffer>) {
        digest.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    };
    const upload = beginUpload(bucket);
    try {
      // Sequential, to bound memory.
      for await (const part of inParts(measure())) await upload.add(part);
      const stored = { size, sha256: digest.digest('hex') };
      let isPlaced = false;
      await placing(stored, async () => {
        await upload.end(getBlobKey(area, stored.sha256));
        isPlaced = true;
      });
      if (!isPlaced) await upload.abort();
      return stored;
    } catch (error) {
      await upload.abort();
      throw error;
    }
  };

/** Returns the size of the whole object from the response to a request for a part. */
const sizeIn = ({ status, headers }: Response): number =>
  Number(status === 206 ? headers.get('content-range')?.split('/')[1] : headers.get('content-length'));

const get =
  (bucket: Bucket): Blobs['get'] =>
  async (area, sha256, range, size) => {
    const headers = range === undefined ? {} : { range: `bytes=${range.start}-${range.end}` };
    const response = await bucket.find({ key: getBlobKey(area, sha256), headers });
    if (response === null) return null;
    if (range !== undefined && response.status !== 206) {
      await response.body?.cancel();
      throw unavailable();
    }
    if (size !== undefined && sizeIn(response) !== size) {
      await response.body?.cancel();
      throw damagedFile();
    }
    return response.body === null ? Readable.from([]) : Readable.fromWeb(response.body);
  };

/** @param instance the instance whose marker `check` requires; null: any */
export const openS3 = (bucket: Bucket, instance: string | null = null): Blobs => ({
  put: put(bucket),
  get: get(bucket),
  has: async (area, sha256) =>
    (await bucket.find({ method: 'HEAD', key: getBlobKey(area, sha256) })) !== null,
  link: async (area, sha256, fileName, size) => {
    const key = getBlobKey(area, sha256);
    const link = await bucket.link(key, {
      // Stores differ in how they sign other characters.
      'response-content-disposition': `attachment; filename="${fileName.replace(/[^\w.-]/g, '_')}"`,
      'response-content-type': 'application/octet-stream',
    });
    if (link === null || size === undefined) return link;
    // Compare the size here: a client that follows the link does not know it.
    const head = await bucket.find({ method: 'HEAD', key });
    if (head === null) return null;
    if (sizeIn(head) !== size) throw damagedFile();
    return link;
  },
  remove: async (area, sha256) => await removeKeys(bucket, [getBlobKey(area, sha256)]),
  check: async () => await requireBucketMarker(bucket, instance),
  removeArea: async (area) => {
    for (;;) {
      const keys = (await list(bucket, `${area}/`)).map(({ key }) => key);
      if (keys.length === 0) return;
      await removeKeys(bucket, keys);
    }
  },
});
