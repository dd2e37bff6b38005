/** Multipart uploads to a bucket whose key is known only at their end. */
import { randomBytes } from 'node:crypto';
import { unavailable } from '../errors.ts';
import type { Bucket } from './s3_client.ts';

/** Prefix of temporary keys. */
export const unfinished = 'unfinished/';

/** Maximum duration of an upload in milliseconds. Much older uploads are abandoned. */
const maxUploadMilliseconds = 72_000_000;

/** Bytes of a part. S3 accepts 10,000 parts. */
export const partSize = 8 * 1024 * 1024;

/** Splits a stream into parts of `partSize` bytes; the last may be shorter. */
export const inParts = async function* inParts(
  content: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer<ArrayBuffer>> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const chunk of content) {
    let unread = chunk;
    while (size + unread.length >= partSize) {
      const fitting = unread.subarray(0, partSize - size);
      yield Buffer.concat([...held, fitting]);
      unread = unread.subarray(fitting.length);
      [held, size] = [[], 0];
    }
    if (unread.length > 0) held.push(unread);
    size += unread.length;
  }
  if (size > 0) yield Buffer.concat(held);
};

/** Uploads that one listing returns at most; the next listing returns the rest. */
const maxListed = 1_000;

/** Aborts our uploads that began before `before`. Their parts appear in no list of keys but occupy space. */
export const abortUploads = async (bucket: Bucket, before: number): Promise<void> => {
  const query = { uploads: '', prefix: unfinished, 'max-uploads': String(maxListed) };
  const { text } = await bucket.ask({ query });
  for (const [, one = ''] of text.matchAll(/<Upload>(.*?)<\/Upload>/gs)) {
    const getElementText = (name: string): string => one.split(`<${name}>`)[1]?.split('<')[0] ?? '';
    const [key, uploadId, begun] = [
      getElementText('Key'),
      getElementText('UploadId'),
      Date.parse(getElementText('Initiated')),
    ];
    // Some stores ignore the prefix.
    if (!key.startsWith(unfinished) || !(begun < before)) continue;
    await bucket.find({ method: 'DELETE', key, query: { uploadId } });
  }
};

export type PartsUpload = {
  add: (part: Buffer<ArrayBuffer>) => Promise<void>;
  /** Completes the upload under this key. */
  end: (key: string) => Promise<void>;
  /** Tries to remove the uploaded parts. */
  abort: () => Promise<void>;
};

const completion = (etags: string[]): Buffer<ArrayBuffer> => {
  const parts = etags.map(
    (etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag></Part>`,
  );
  const namespace = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
  return Buffer.from(`<CompleteMultipartUpload ${namespace}>${parts.join('')}</CompleteMultipartUpload>`);
};

/**
 * Begins an upload. Content that fits one part is stored directly under its key; longer content under a temporary key
 * first.
 */
export const beginUpload = (bucket: Bucket): PartsUpload => {
  const key = unfinished + randomBytes(16).toString('hex');
  const begun = Date.now();
  const etags: string[] = [];
  let held: Buffer<ArrayBuffer> | undefined;
  let uploadId: string | undefined;

  const start = async (): Promise<string> => {
    const { text } = await bucket.ask({ method: 'POST', key, query: { uploads: '' } });
    const id = /<UploadId>([^<]+)<\/UploadId>/.exec(text)?.[1];
    if (id === undefined) throw new Error('the store returned no upload id');
    return id;
  };
  const sendHeld = async (): Promise<void> => {
    if (held === undefined) return;
    if (Date.now() - begun > maxUploadMilliseconds) throw unavailable();
    uploadId ??= await start();
    const query = { partNumber: String(etags.length + 1), uploadId };
    const { headers } = await bucket.ask({ method: 'PUT', key, query, body: held });
    etags.push(headers.get('etag') ?? '');
    held = undefined;
  };
  const complete = async (id: string): Promise<void> => {
    // Null: an attempt may have succeeded although its response was lost. If it did not, the copy below fails.
    const answer = await bucket.find({
      method: 'POST',
      key,
      query: { uploadId: id },
      headers: { 'content-type': 'application/xml' },
      body: completion(etags),
    });
    await answer?.arrayBuffer();
  };
  return {
    add: async (part) => {
      await sendHeld();
      held = part;
    },
    end: async (to) => {
      if (uploadId === undefined) {
        await bucket.ask({ method: 'PUT', key: to, body: held ?? Buffer.alloc(0) });
        return;
      }
      await sendHeld();
      await complete(uploadId);
      const headers = { 'x-amz-copy-source': `/${bucket.name}/${key}` };
      await bucket.ask({ method: 'PUT', key: to, headers });
      await bucket.find({ method: 'DELETE', key });
    },
    abort: async () => {
      if (uploadId === undefined) return;
      await bucket.find({ method: 'DELETE', key, query: { uploadId } }).catch(() => undefined);
      await bucket.find({ method: 'DELETE', key }).catch(() => undefined);
    },
  };
};
