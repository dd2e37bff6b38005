/** Checks the bucket of artifacts and uploads, where one is configured. */
import type { Config } from '../../../platform/config/fields.ts';
import { getS3Location } from '../../../platform/config/blobs.ts';
import { markerName } from '../../../platform/git/instance_marker.ts';
import { type Finding, fail, ok } from './finding.ts';

const advice = 'check the settings GANTRY_BLOB_S3_..., and that the store runs';

export const checkBlobs = async (config: Config): Promise<Finding[]> => {
  const location = getS3Location(config);
  if (location === null) return [];
  const { openBucket } = await import('../../../platform/blob/s3_client.ts');
  let why: object = {};
  const bucket = openBucket(location, (details) => (why = details));
  try {
    await bucket.ask({ query: { 'list-type': '2', prefix: markerName, 'max-keys': '1' } });
    return [ok('bytes', `the bucket ${location.bucket} at ${location.endpoint} answers`)];
  } catch {
    return [
      fail(
        'bytes',
        `${location.endpoint} does not give access to the bucket ${location.bucket}: ${JSON.stringify(why)}`,
        advice,
      ),
    ];
  }
};
