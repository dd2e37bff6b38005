/** Lists the stores that the configuration names, for the comparison at startup. */
import { join } from 'node:path';
import { sql } from 'kysely';
import { type BlobMarker, bucketMarker, folderMarker } from '../../platform/blob/store_marker.ts';
import type { Config } from '../../platform/config/fields.ts';
import { getS3Location } from '../../platform/config/blobs.ts';
import { formatRemoteAddress } from '../../platform/config/parse_values.ts';
import type { Store } from '../../platform/db/open.ts';
import { openClaim } from '../../platform/git/claim_storage.ts';
import { type StorageSite, getLocalRoot, getRepositoryPath } from '../../platform/git/storages.ts';
import type { InstanceRecord } from './instance_record.ts';
import type { InstanceStore } from './instance_stores.ts';

/** null if there is no database yet. */
type Database = Store | null;

/** Number of repositories looked for in a storage that was never marked. It must hold at least one of them. */
const sampleSize = 20;

type SampleRow = { id: number; repository_path?: string | null };

/** Returns paths of repositories that a database of any version records as written. */
const sampleRepositories = async (
  database: Database,
  storage: string,
  record: InstanceRecord,
): Promise<string[]> => {
  if (database === null || record.isEmpty) return [];
  const { rows } = await sql<SampleRow>`select * from projects
    where default_branch is not null and repository_storage = ${storage}
    order by id desc limit ${sampleSize}`.execute(database.db);
  return rows.map(({ id, repository_path = null }) => getRepositoryPath({ id, repository_path }));
};

const storageStore = (config: Config, database: Database, site: StorageSite): InstanceStore => {
  const { data, gitd_secret: secret, gitd_ca: ca } = config;
  const { inspect, claim } = openClaim({ data, secret, ca }, site);
  const { address } = site;
  const name = `storage:${site.name}`;
  const place = address === null ? getLocalRoot(config.data, site) : formatRemoteAddress(address);
  return {
    name,
    label: `the repository storage "${site.name}" (${place})`,
    remedy:
      address === null
        ? 'mount or restore that folder; services of several machines share one that a "gantry gitd" serves'
        : 'start its "gantry gitd" with the right --root',
    inspect: async (record) => {
      const sample = record.claimed.has(name) ? [] : await sampleRepositories(database, site.name, record);
      const { instance, isEmpty, held } = await inspect(sample);
      return { instance, isEmpty, holdsExpected: sample.length === 0 ? null : held > 0 };
    },
    claim,
  };
};

/** Tables whose rows reference blobs, with the migration that added each. */
const blobTables = [
  ['0006_snippets_uploads', sql`select 1 from uploads limit 1`],
  ['0012_ci', sql`select 1 from artifacts limit 1`],
] as const;

const hasBlobRows = async (database: Database, record: InstanceRecord): Promise<boolean> => {
  if (database === null) return false;
  for (const [migration, query] of blobTables) {
    if (!record.applied.includes(migration)) continue;
    if ((await query.execute(database.db)).rows.length > 0) return true;
  }
  return false;
};

const getBlobMarker = async (config: Config): Promise<{ marker: BlobMarker; place: string }> => {
  const location = getS3Location(config);
  if (location === null) {
    const root = join(config.data, 'blobs');
    return { marker: folderMarker(root), place: root };
  }
  const { openBucket } = await import('../../platform/blob/s3_client.ts');
  const marker = bucketMarker(openBucket(location, () => undefined));
  return { marker, place: `the bucket ${location.bucket} at ${location.endpoint}` };
};

const blobStore = async (config: Config, database: Database): Promise<InstanceStore> => {
  const { marker, place } = await getBlobMarker(config);
  return {
    name: 'blobs',
    label: `the store of artifacts and uploads (${place})`,
    remedy:
      getS3Location(config) === null
        ? 'check the settings GANTRY_BLOB_S3_... and --data, or restore it'
        : 'check the settings GANTRY_BLOB_S3_..., restore it, or copy the files of the data folder to it with "gantry storage copy-blobs"',
    inspect: async (record) => {
      const { instance, isEmpty, isMissing = false } = await marker.inspect();
      if (isMissing && !record.claimed.has('blobs')) throw new Error('the bucket does not exist');
      if (instance !== null || record.claimed.has('blobs')) return { instance, isEmpty, holdsExpected: null };
      const isExpected = await hasBlobRows(database, record);
      // In a used database, blobs without a row do not indicate another instance.
      return {
        instance,
        isEmpty,
        holdsExpected: isExpected || !record.isEmpty ? !isEmpty || !isExpected : null,
      };
    },
    claim: marker.claim,
  };
};

export const listStores = async (config: Config, database: Database): Promise<InstanceStore[]> => [
  ...config.repository_storages.map((site) => storageStore(config, database, site)),
  await blobStore(config, database),
];
