/** Bytes by their digest, in a bucket of a store that speaks S3; the keys are what paths are in `files.ts`. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { damaged, unavailable } from '../errors.ts';
import type { Bucket } from './bucket.ts';
import { type Blobs, blobKey, placeAtOnce } from './files.ts';
import { abortUploads, beginUpload, inParts, unfinished } from './upload_parts.ts';

/** Milliseconds after which what nobody finished is taken for left: no upload takes as long. */
const abandoned = 86_400_000;
/** Keys that are removed at once. */
const abreast = 8;

type Listed = { key: string; modified: number };

/** The first thousand below this. */
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
    // oxlint-disable-next-line no-await-in-loop -- a few at a time
    await Promise.all(some.map(async (key) => await bucket.find({ method: 'DELETE', key })));
  }
};

/** Removes what processes left that died, a day before `now` or longer ago: others may be at work. */
export const removeAbandoned = async (bucket: Bucket, now: number): Promise<void> => {
  const left = (await list(bucket, unfinished)).filter(({ modified }) => modified < now - abandoned);
  await removeKeys(
    bucket,
    left.map(({ key }) => key),
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
      // One after another: memory has room for no more.
      for await (const part of inParts(measure())) await upload.add(part);
      const stored = { size, sha256: digest.digest('hex') };
      let isPlaced = false;
      await placing(stored, async () => {
        await upload.end(blobKey(area, stored.sha256));
        isPlaced = true;
      });
      if (!isPlaced) await upload.abort();
      return stored;
    } catch (error) {
      await upload.abort();
      throw error;
    }
  };

/** Bytes of the whole object, whichever part of it this is. */
const sizeIn = ({ status, headers }: Response): number =>
  Number(status === 206 ? headers.get('content-range')?.split('/')[1] : headers.get('content-length'));

const get =
  (bucket: Bucket): Blobs['get'] =>
  async (area, sha256, range, size) => {
    const headers = range === undefined ? {} : { range: `bytes=${range.start}-${range.end}` };
    const response = await bucket.find({ key: blobKey(area, sha256), headers });
    if (response === null) return null;
    if (range !== undefined && response.status !== 206) {
      await response.body?.cancel();
      throw unavailable();
    }
    if (size !== undefined && sizeIn(response) !== size) {
      await response.body?.cancel();
      throw damaged();
    }
    return response.body === null ? Readable.from([]) : Readable.fromWeb(response.body);
  };

export const openS3 = (bucket: Bucket): Blobs => ({
  put: put(bucket),
  get: get(bucket),
  has: async (area, sha256) => (await bucket.find({ method: 'HEAD', key: blobKey(area, sha256) })) !== null,
  link: async (area, sha256, fileName) =>
    await bucket.link(blobKey(area, sha256), {
      // What else may stand in a name, stores sign in ways of their own.
      'response-content-disposition': `attachment; filename="${fileName.replace(/[^\w.-]/g, '_')}"`,
      'response-content-type': 'application/octet-stream',
    }),
  remove: async (area, sha256) => await removeKeys(bucket, [blobKey(area, sha256)]),
  removeArea: async (area) => {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- the next thousand
      const keys = (await list(bucket, `${area}/`)).map(({ key }) => key);
      if (keys.length === 0) return;
      // oxlint-disable-next-line no-await-in-loop -- before they are listed again
      await removeKeys(bucket, keys);
    }
  },
});
