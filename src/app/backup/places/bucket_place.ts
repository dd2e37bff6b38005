/** Backups below a prefix of a bucket that speaks S3. */
import { type S3Location, getS3Location } from '../../../platform/config/blobs.ts';
import type { Config } from '../../../platform/config/fields.ts';
import { openS3, removeAbandoned } from '../../../platform/blob/s3_blobs.ts';
import { type Bucket, type BucketRequest, openBucket } from '../../../platform/blob/s3_client.ts';
import { bucketMarker } from '../../../platform/blob/store_marker.ts';
import { StartFailure } from '../../../platform/errors.ts';
import { type BackupPlace, objectArea } from './backup_place.ts';
import { trimEnd } from '../../../platform/trim.ts';

/** Prefixes all keys of a bucket. */
const withPrefix = (bucket: Bucket, prefix: string): Bucket => {
  const place = ({ key, query, headers, ...rest }: BucketRequest): BucketRequest => {
    const source = headers?.['x-amz-copy-source'];
    const start = `/${bucket.name}/`;
    return {
      ...rest,
      ...(key !== undefined && { key: prefix + key }),
      ...(query !== undefined && {
        query: query['prefix'] === undefined ? query : { ...query, prefix: prefix + query['prefix'] },
      }),
      ...(headers !== undefined && {
        headers:
          source === undefined
            ? headers
            : { ...headers, 'x-amz-copy-source': start + prefix + source.slice(start.length) },
      }),
    };
  };
  return {
    name: bucket.name,
    exists: bucket.exists,
    find: async (request) => await bucket.find(place(request)),
    ask: async (request) => await bucket.ask(place(request)),
    link: async () => null,
  };
};

type Listed = { name: string; size: number };

/** Lists the keys below a prefix, without it, and their sizes. */
const listKeys = async function* listKeys(
  bucket: Bucket,
  base: string,
  prefix: string,
): AsyncGenerator<Listed> {
  let token: string | undefined;
  do {
    const more: { [name: string]: string } = token === undefined ? {} : { 'continuation-token': token };
    const { text } = await bucket.ask({ query: { 'list-type': '2', prefix, ...more } });
    for (const [, entry = ''] of text.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
      const getElementText = (name: string): string => entry.split(`<${name}>`)[1]?.split('<')[0] ?? '';
      yield {
        name: getElementText('Key').slice(base.length + prefix.length),
        size: Number(getElementText('Size')),
      };
    }
    token = /<NextContinuationToken>([^<]*)<\/NextContinuationToken>/.exec(text)?.[1];
  } while (token !== undefined);
};

/** Returns the location of the bucket: the settings for backups, otherwise the settings of the blob store. */
const getLocation = (config: Config, bucket: string): S3Location => {
  const bytes = getS3Location(config);
  const endpoint = config.backup_s3_endpoint ?? bytes?.endpoint;
  const access_key = config.backup_s3_access_key ?? bytes?.access_key;
  const secret_key = config.backup_s3_secret_key ?? bytes?.secret_key;
  if (endpoint === undefined || access_key === undefined || secret_key === undefined) {
    throw new StartFailure(
      'GANTRY_BACKUP_S3_ENDPOINT, GANTRY_BACKUP_S3_ACCESS_KEY and GANTRY_BACKUP_S3_SECRET_KEY are required for a backup in a bucket',
    );
  }
  return { endpoint, access_key, secret_key, bucket, public_endpoint: null, region: config.backup_s3_region };
};

const parseUrl = (url: string): { bucket: string; prefix: string } => {
  const [, bucket, path = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([A-Za-z0-9._/-]*))?$/.exec(url) ?? [];
  if (bucket === undefined) throw new StartFailure(`${url} is not s3://BUCKET/PREFIX`);
  const prefix = trimEnd(path, '/');
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/` };
};

/**
 * Opens a bucket for backups.
 * @param instance the instance that writes; null: to read
 * @throws StartFailure if it has backups of another instance
 */
export const openBucketPlace = async (
  config: Config,
  url: string,
  instance: string | null,
): Promise<BackupPlace> => {
  const { bucket: name, prefix } = parseUrl(url);
  let cause: object = {};
  const whole = openBucket(getLocation(config, name), (details) => (cause = details));
  const bucket = withPrefix(whole, prefix);
  const marker = bucketMarker(bucket);
  const { instance: owner } = await marker.inspect().catch(() => {
    throw new StartFailure(`${url} does not answer: ${JSON.stringify(cause)}`);
  });
  if (instance === null && owner === null) throw new StartFailure(`no backups found in ${url}`);
  if (instance !== null) {
    if (owner !== null && owner !== instance)
      throw new StartFailure(`${url} has backups of another instance (${owner}): name another prefix`);
    if (owner === null) await marker.claim(instance);
    await removeAbandoned(bucket, Date.now());
  }
  return {
    label: url,
    blobs: openS3(bucket),
    listTexts: async (folder) =>
      await Array.fromAsync(listKeys(bucket, prefix, `${folder}/`), ({ name: file }) => file),
    readText: async (key) => (await (await bucket.find({ key }))?.text()) ?? null,
    writeText: async (key, text) => void (await bucket.ask({ method: 'PUT', key, body: Buffer.from(text) })),
    removeText: async (key) => void (await bucket.find({ method: 'DELETE', key })),
    listObjects: async function* listObjects() {
      for await (const { name: key, size } of listKeys(bucket, prefix, `${objectArea}/`))
        yield { sha256: key.slice(key.indexOf('/') + 1), size };
    },
  };
};
