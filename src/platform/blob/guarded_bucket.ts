/** Refuses a bucket that holds the data of another instance, at the first request and after each outage. */
import { unavailable } from '../errors.ts';
import { markerName } from '../git/instance_marker.ts';
import type { Bucket, Log } from './s3_client.ts';

/** Returns the instance id in the marker of a bucket; null if it has none. */
export const readBucketMarker = async (bucket: Bucket): Promise<string | null> => {
  const marker = await bucket.find({ key: markerName });
  return marker === null ? null : (await marker.text()).trim() || null;
};

/** @throws Failure 503 if the bucket has no marker, or the marker of another instance */
export const requireBucketMarker = async (
  bucket: Bucket,
  instance: string | null,
  log: Log = () => undefined,
): Promise<void> => {
  const marked = await readBucketMarker(bucket);
  if (marked !== null && (instance === null || marked === instance)) return;
  log({ bucket: bucket.name, marked, instance }, 'the bucket does not belong to this instance');
  throw unavailable();
};

/** Returns the bucket, which compares its marker before the first request, and again after each that failed. */
export const guardBucket = (bucket: Bucket, instance: string, log: Log): Bucket => {
  let comparison: Promise<void> | null = null;
  const guard = async <T>(request: () => Promise<T>): Promise<T> => {
    comparison ??= requireBucketMarker(bucket, instance, log);
    try {
      await comparison;
      return await request();
    } catch (error) {
      comparison = null;
      throw error;
    }
  };
  return {
    ...bucket,
    find: async (request) => await guard(async () => await bucket.find(request)),
    ask: async (request) => await guard(async () => await bucket.ask(request)),
    link: async (key, query) => await guard(async () => await bucket.link(key, query)),
  };
};
