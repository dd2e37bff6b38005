/** Where bytes are kept: in the data folder, or in a bucket of a store that speaks S3. */
import { type Field, readMatching, readUrl } from './config_values.ts';
import { StartFailure } from './errors.ts';

export type BlobConfig = {
  /** null: bytes are kept in the data folder. */
  blob_s3_endpoint: string | null;
  /** By which runners reach the same; null: they do not. */
  blob_s3_public_endpoint: string | null;
  blob_s3_bucket: string | null;
  blob_s3_region: string;
  blob_s3_access_key: string | null;
  blob_s3_secret_key: string | null;
};

/** A bucket, and the right to it. */
export type S3Place = {
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
    meaning:
      'URL of an S3-compatible store that keeps artifacts and uploads; without it, they are in the data folder',
    read: readUrl(['http:', 'https:']),
  },
  blob_s3_public_endpoint: {
    variable: 'GANTRY_BLOB_S3_PUBLIC_ENDPOINT',
    default: null,
    meaning:
      'URL by which runners reach that store, to read artifacts there; without it, they come through us',
    read: readUrl(['http:', 'https:']),
  },
  blob_s3_bucket: {
    variable: 'GANTRY_BLOB_S3_BUCKET',
    default: null,
    meaning: 'bucket in that store that Gantry has for itself',
    read: readMatching(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'the name of a bucket'),
  },
  blob_s3_region: {
    variable: 'GANTRY_BLOB_S3_REGION',
    default: 'us-east-1',
    meaning: 'region of that store, which is part of each signature',
    read: readMatching(/^[A-Za-z0-9-]{1,63}$/, 'a name of letters, digits and -'),
  },
  blob_s3_access_key: {
    variable: 'GANTRY_BLOB_S3_ACCESS_KEY',
    default: null,
    meaning: 'id of the key by which that store knows us',
    secret: true,
    read: readKey,
  },
  blob_s3_secret_key: {
    variable: 'GANTRY_BLOB_S3_SECRET_KEY',
    default: null,
    meaning: 'the secret part of that key',
    secret: true,
    read: readKey,
  },
};

/**
 * null: bytes are kept in the data folder.
 * @throws StartFailure where a part of it is not set
 */
export const s3Place = (config: BlobConfig): S3Place | null => {
  const { blob_s3_endpoint: endpoint, blob_s3_public_endpoint: public_endpoint } = config;
  const { blob_s3_bucket: bucket, blob_s3_region: region } = config;
  const { blob_s3_access_key: access_key, blob_s3_secret_key: secret_key } = config;
  if (endpoint === null) {
    if (bucket === null && public_endpoint === null) return null;
    throw new StartFailure('GANTRY_BLOB_S3_ENDPOINT is needed: without it no store is asked for the bucket');
  }
  if (bucket === null || access_key === null || secret_key === null) {
    throw new StartFailure(
      'GANTRY_BLOB_S3_BUCKET, GANTRY_BLOB_S3_ACCESS_KEY and GANTRY_BLOB_S3_SECRET_KEY are needed beside GANTRY_BLOB_S3_ENDPOINT',
    );
  }
  return { endpoint, public_endpoint, bucket, region, access_key, secret_key };
};
