/** What the doctor asks of the store of bytes, where they are not in the data folder. */
import type { Config } from '../config.ts';
import { s3Place } from '../config_blobs.ts';
import { markerName } from '../git/marker.ts';
import { type Finding, fail, ok } from './doctor_finding.ts';

const advice = 'look at the settings GANTRY_BLOB_S3_..., and whether the store runs';

export const checkBlobs = async (config: Config): Promise<Finding[]> => {
  const place = s3Place(config);
  if (place === null) return [];
  const { openBucket } = await import('../blob/bucket.ts');
  let why: object = {};
  const bucket = openBucket(place, (details) => (why = details));
  try {
    await bucket.ask({ query: { 'list-type': '2', prefix: markerName, 'max-keys': '1' } });
    return [ok('bytes', `the bucket ${place.bucket} at ${place.endpoint} answers`)];
  } catch {
    return [
      fail('bytes', `${place.endpoint} gives no bucket ${place.bucket}: ${JSON.stringify(why)}`, advice),
    ];
  }
};
