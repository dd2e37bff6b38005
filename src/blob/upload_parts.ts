/** Bytes on their way into a bucket whose key is known only at their end. */
import { randomBytes } from 'node:crypto';
import { unavailable } from '../errors.ts';
import type { Bucket } from './bucket.ts';

/** Where they are until then. */
export const unfinished = 'unfinished/';

/** Milliseconds that an upload may take: what is older than that by far, nobody is at work on. */
const longest = 72_000_000;

/** Bytes of a part. The store takes 10,000 of them. */
export const partSize = 8 * 1024 * 1024;

/** Parts of that size, but for the last. */
export const inParts = async function* inParts(
  content: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer<ArrayBuffer>> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const chunk of content) {
    let rest = chunk;
    while (size + rest.length >= partSize) {
      const fitting = rest.subarray(0, partSize - size);
      yield Buffer.concat([...held, fitting]);
      rest = rest.subarray(fitting.length);
      [held, size] = [[], 0];
    }
    if (rest.length > 0) held.push(rest);
    size += rest.length;
  }
  if (size > 0) yield Buffer.concat(held);
};

/** Uploads that one look finds at most: the next one finds the rest. */
const mostFound = 1_000;

/** Gives up uploads of ours that were begun before `before`: their parts are in no list of keys, and take place. */
export const abortUploads = async (bucket: Bucket, before: number): Promise<void> => {
  const query = { uploads: '', prefix: unfinished, 'max-uploads': String(mostFound) };
  const { text } = await bucket.ask({ query });
  for (const [, one = ''] of text.matchAll(/<Upload>(.*?)<\/Upload>/gs)) {
    const valueOf = (name: string): string => one.split(`<${name}>`)[1]?.split('<')[0] ?? '';
    const [key, uploadId, begun] = [valueOf('Key'), valueOf('UploadId'), Date.parse(valueOf('Initiated'))];
    // Not every store heeds the prefix.
    if (!key.startsWith(unfinished) || !(begun < before)) continue;
    // oxlint-disable-next-line no-await-in-loop -- one after another: nobody waits
    await bucket.find({ method: 'DELETE', key, query: { uploadId } });
  }
};

export type PartsUpload = {
  add: (part: Buffer<ArrayBuffer>) => Promise<void>;
  /** All that was added is under this key. */
  end: (key: string) => Promise<void>;
  /** Takes away what there is by now, as far as that is possible. */
  abort: () => Promise<void>;
};

const completion = (etags: string[]): Buffer<ArrayBuffer> => {
  const parts = etags.map(
    (etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag></Part>`,
  );
  const namespace = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
  return Buffer.from(`<CompleteMultipartUpload ${namespace}>${parts.join('')}</CompleteMultipartUpload>`);
};

/** What is no larger than a part goes straight under its key; the rest under a temporary one first. */
export const beginUpload = (bucket: Bucket): PartsUpload => {
  const key = unfinished + randomBytes(16).toString('hex');
  const begun = Date.now();
  const etags: string[] = [];
  let held: Buffer<ArrayBuffer> | undefined;
  let uploadId: string | undefined;

  const start = async (): Promise<string> => {
    const { text } = await bucket.ask({ method: 'POST', key, query: { uploads: '' } });
    const id = /<UploadId>([^<]+)<\/UploadId>/.exec(text)?.[1];
    if (id === undefined) throw new Error('the store begins no upload');
    return id;
  };
  const sendHeld = async (): Promise<void> => {
    if (held === undefined) return;
    if (Date.now() - begun > longest) throw unavailable();
    uploadId ??= await start();
    const query = { partNumber: String(etags.length + 1), uploadId };
    const { headers } = await bucket.ask({ method: 'PUT', key, query, body: held });
    etags.push(headers.get('etag') ?? '');
    held = undefined;
  };
  const complete = async (id: string): Promise<void> => {
    // Null: a try of which the answer was lost may have done it. If not, there is nothing to copy.
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
