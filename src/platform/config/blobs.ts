/** Settings of blob storage: the data folder, or a bucket that speaks S3. */
import { type Field, readMatching, readUrl } from './parse_values.ts';
import { StartFailure } from '../errors.ts';

export type BlobConfig = {
  /** null: blobs are stored in the data folder. */
  blob_s3_endpoint: string | null;
  /** Endpoint by which runners reach the store; null if they cannot. */
  blob_s3_public_endpoint: string | null;
  blob_s3_bucket: string | null;
  blob_s3_region: string;
  blob_s3_access_key: string | null;
  blob_s3_secret_key: string | null;
};

/** Location and credentials of a bucket. */
export type S3Location = {
  endpoint: string;
  public_endpoint: string | null;
  bucket: string;
  region: string;
  access_key: string;
  secret_key: string;
};

const readKey = readMatching(/^[\x21-\x7e]{1,255}$/, '1 to 255 printable characters');

export const blobFields: { [N in keyof BlobConfig]: Field<BlobConfig[N]> } = {
  blob_s3_endpoint: {
    variable: 'GANTRY_BLOB_S3_ENDPOINT',
    default: null,
    meaning: 'URL of an S3-compatible store for artifacts and uploads; default: the data folder',
    read: readUrl(['http:', 'https:']),
  },
  blob_s3_public_endpoint: {
    variable: 'GANTRY_BLOB_S3_PUBLIC_ENDPOINT',
    default: null,
    meaning: 'URL at which runners read artifacts from that store; default: the service sends them',
    read: readUrl(['http:', 'https:']),
  },
  blob_s3_bucket: {
    variable: 'GANTRY_BLOB_S3_BUCKET',
    default: null,
    meaning: 'bucket in that store, used only by Gantry',
    read: readMatching(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'the name of a bucket'),
  },
  blob_s3_region: {
    variable: 'GANTRY_BLOB_S3_REGION',
    default: 'us-east-1',
    meaning: 'region of that store, part of each signature',
    read: readMatching(/^[A-Za-z0-9-]{1,63}$/, 'a name of letters, digits and -'),
  },
  blob_s3_access_key: {
    variable: 'GANTRY_BLOB_S3_ACCESS_KEY',
    default: null,
    meaning: 'access key id for that store',
    secret: true,
    read: readKey,
  },
  blob_s3_secret_key: {
    variable: 'GANTRY_BLOB_S3_SECRET_KEY',
    default: null,
    meaning: 'secret access key for that store',
    secret: true,
    read: readKey,
  },
};

/**
 * Returns the configured bucket; null if blobs are stored in the data folder.
 * @throws StartFailure if one of its settings is missing
 */
export const getS3Location = (config: BlobConfig): S3Location | null => {
  const { blob_s3_endpoint: endpoint, blob_s3_public_endpoint: public_endpoint } = config;
  const { blob_s3_bucket: bucket, blob_s3_region: region } = config;
  const { blob_s3_access_key: access_key, blob_s3_secret_key: secret_key } = config;
  if (endpoint === null) {
    if (bucket === null && public_endpoint === null) return null;
    throw new StartFailure('GANTRY_BLOB_S3_ENDPOINT is required by the other GANTRY_BLOB_S3 settings');
  }
  if (bucket === null || access_key === null || secret_key === null) {
    throw new StartFailure(
      'GANTRY_BLOB_S3_BUCKET, GANTRY_BLOB_S3_ACCESS_KEY and GANTRY_BLOB_S3_SECRET_KEY are required with GANTRY_BLOB_S3_ENDPOINT',
    );
  }
  return { endpoint, public_endpoint, bucket, region, access_key, secret_key };
};
