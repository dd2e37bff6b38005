/**
 * Copies the blobs of a folder to a bucket, which then takes the place of the folder. May be interrupted and begun
 * again, and run several times while a service uses the folder: only the last run, without the service, removes. The marker of the instance comes last: without it, no
 * service accepts the bucket.
 */
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { StartFailure } from '../errors.ts';
import { forEachConcurrently } from '../for_each_concurrently.ts';
import { readMarker } from '../git/instance_marker.ts';
import { getBlobKey } from './blob_files.ts';
import { isMissing } from './file_system.ts';
import { readBucketMarker } from './guarded_bucket.ts';
import { openS3 } from './s3_blobs.ts';
import type { Bucket } from './s3_client.ts';
import { bucketMarker } from './store_marker.ts';

export type CopyParts = {
  /** The folder of blobs. */
  root: string;
  bucket: Bucket;
  instance: string;
  /** Whether nothing uses the folder, so that this run is the last. */
  isLast: boolean;
  /** Whether the move may be completed without damaged files. */
  skipsDamaged: boolean;
  /** Called with the number of files, and after each of them. */
  onTotal: (files: number) => void;
  advance: () => void;
};

export type CopyResult = {
  copied: number;
  /** Files that the bucket had already. */
  present: number;
  /** Objects removed, because the files were removed after an earlier run. */
  removed: number;
  /** Paths of files that do not have the digest of their name. They are not copied. */
  damaged: string[];
  /** Whether the bucket belongs to the instance now. */
  isComplete: boolean;
};

/** Object that marks a bucket with an unfinished copy, and names the instance. */
const copyMarker = 'gantry-copy';
/** Files copied at once. */
const concurrency = 4;
const areas = ['avatars', 'projects'];

const otherFolder = (root: string): StartFailure =>
  new StartFailure(`${root} is not the folder of artifacts and uploads of this instance: check --data`);

/** Lists the keys of the files below a folder, which are their paths below the root. */
const listFiles = async function* listFiles(root: string, prefix: string): AsyncGenerator<string> {
  const folder = join(root, prefix);
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  for (const entry of entries) {
    const key = `${prefix}${entry.name}`;
    if (entry.isDirectory()) yield* listFiles(root, `${key}/`);
    else if (/^[\da-f]{64}$/.test(entry.name)) yield key;
  }
};

/** Lists the keys of a bucket with their sizes. */
const listKeys = async (bucket: Bucket, prefix: string): Promise<Map<string, number>> => {
  const keys = new Map<string, number>();
  for (let after = ''; ;) {
    const query = { 'list-type': '2', prefix, ...(after !== '' && { 'start-after': after }) };
    const { text } = await bucket.ask({ query });
    for (const [, one = ''] of text.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
      after = /<Key>([^<]*)<\/Key>/.exec(one)?.[1] ?? '';
      keys.set(after, Number(/<Size>(\d+)<\/Size>/.exec(one)?.[1] ?? -1));
    }
    if (!text.includes('<IsTruncated>true</IsTruncated>')) return keys;
  }
};

/** Copies one file. @returns false if it is damaged */
const copyFile = async ({ root, bucket }: CopyParts, key: string): Promise<boolean> => {
  const sha256 = basename(key);
  const area = key.slice(0, -getBlobKey('', sha256).length);
  let isSame = false;
  await openS3(bucket).put(area, createReadStream(join(root, key)), async (stored, place) => {
    isSame = stored.sha256 === sha256;
    if (isSame) await place();
  });
  return isSame;
};

/**
 * Checks that the folder is still there and the bucket still unused: else what the folder lacks is not what the service
 * removed.
 */
const requireUnmoved = async ({ root, bucket, instance }: CopyParts): Promise<void> => {
  if ((await readMarker(root)) !== instance) throw otherFolder(root);
  const owner = await readBucketMarker(bucket);
  if (owner !== null)
    throw new StartFailure(
      `the instance ${owner} uses the bucket ${bucket.name} meanwhile: nothing was removed`,
    );
};

const copyArea = async (parts: CopyParts, area: string, result: CopyResult): Promise<void> => {
  const { root, bucket, isLast, advance } = parts;
  const existing = await listKeys(bucket, `${area}/`);
  const files = await Array.fromAsync(listFiles(root, `${area}/`));
  await forEachConcurrently(files, concurrency, async (key) => {
    const size = existing.get(key);
    existing.delete(key);
    try {
      if (size !== undefined && size === (await stat(join(root, key))).size) result.present += 1;
      else if (await copyFile(parts, key)) result.copied += 1;
      else result.damaged.push(key);
    } catch (error) {
      // The service removed it meanwhile.
      if (!isMissing(error)) throw error;
    }
    advance();
  });
  if (!isLast) return;
  await requireUnmoved(parts);
  await forEachConcurrently(existing.keys(), concurrency, async (key) => {
    if (!/^[\da-f]{64}$/.test(basename(key))) return;
    await bucket.find({ method: 'DELETE', key });
    result.removed += 1;
  });
};

const hasKeys = async (bucket: Bucket): Promise<boolean> => {
  for (const area of areas) {
    const { text } = await bucket.ask({ query: { 'list-type': '2', prefix: `${area}/` } });
    if (text.includes('<Key>')) return true;
  }
  return false;
};

/** Marks an empty bucket for this copy. @throws StartFailure if the bucket belongs to somebody else */
const beginCopy = async ({ bucket, instance }: CopyParts): Promise<void> => {
  const unfinished = await bucket.find({ key: copyMarker });
  const owner = unfinished === null ? null : (await unfinished.text()).trim();
  if (owner === instance) return;
  if (owner !== null)
    throw new StartFailure(`the instance ${owner} is being copied to the bucket ${bucket.name}: use another`);
  if (await hasKeys(bucket))
    throw new StartFailure(
      `the bucket ${bucket.name} has objects below ${areas.join('/ and ')}/ already: use an empty one, or remove them`,
    );
  await bucket.ask({ method: 'PUT', key: copyMarker, body: Buffer.from(`${instance}\n`) });
};

/**
 * @throws StartFailure if the folder or the bucket belongs to another instance
 * @throws Failure 503 if the bucket does not answer
 */
export const copyToBucket = async (parts: CopyParts): Promise<CopyResult> => {
  const { root, bucket, instance, isLast, skipsDamaged } = parts;
  const result: CopyResult = { copied: 0, present: 0, removed: 0, damaged: [], isComplete: true };
  if (!(await bucket.exists())) throw new StartFailure(`there is no bucket ${bucket.name}: create it`);
  const owner = await readBucketMarker(bucket);
  if (owner === instance) return result;
  if (owner !== null)
    throw new StartFailure(`the bucket ${bucket.name} belongs to the instance ${owner}: use another`);
  if ((await readMarker(root)) !== instance) throw otherFolder(root);
  await beginCopy(parts);
  let total = 0;
  for (const area of areas) for await (const _file of listFiles(root, `${area}/`)) total += 1;
  parts.onTotal(total);
  for (const area of areas) await copyArea(parts, area, result);
  if (!isLast || (result.damaged.length > 0 && !skipsDamaged)) return { ...result, isComplete: false };
  await requireUnmoved(parts);
  await bucketMarker(bucket).claim(instance);
  await bucket.find({ method: 'DELETE', key: copyMarker });
  return result;
};
