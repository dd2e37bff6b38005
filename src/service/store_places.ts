/** The stores that the configuration names, as the start of the service compares them. */
import { join } from 'node:path';
import { sql } from 'kysely';
import { type BlobMarker, bucketMarker, folderMarker } from '../blob/marker.ts';
import type { Config } from '../config.ts';
import { s3Place } from '../config_blobs.ts';
import { addressText } from '../config_values.ts';
import type { Store } from '../db/open.ts';
import { openClaim } from '../git/claim.ts';
import { type StorageSite, localRoot, repositoryPath } from '../git/storages.ts';
import type { InstanceRecord } from './instance_record.ts';
import type { InstanceStore } from './instance_stores.ts';

/** `null`: there is no database yet. */
type Database = Store | null;

/** Repositories that a storage which was never marked must hold some of. */
const sampleSize = 20;

type SampleRow = { id: number; repository_path?: string | null };

/** Paths of repositories that the database, of whatever version, knows as written. */
const sampleOf = async (database: Database, storage: string, record: InstanceRecord): Promise<string[]> => {
  if (database === null || record.isEmpty) return [];
  const { rows } = await sql<SampleRow>`select * from projects
    where default_branch is not null and repository_storage = ${storage}
    order by id desc limit ${sampleSize}`.execute(database.db);
  return rows.map(({ id, repository_path = null }) => repositoryPath({ id, repository_path }));
};

const storageStore = (config: Config, database: Database, site: StorageSite): InstanceStore => {
  const { inspect, claim } = openClaim({ data: config.data, secret: config.gitd_secret }, site);
  const { address } = site;
  const name = `storage:${site.name}`;
  const place = address === null ? localRoot(config.data, site) : `tcp://${addressText(address)}`;
  return {
    name,
    label: `the repository storage "${site.name}" (${place})`,
    remedy:
      address === null
        ? 'mount or restore that folder; services of several machines share one that a "gantry gitd" serves'
        : 'start its "gantry gitd" with the right --root',
    inspect: async (record) => {
      const sample = record.claimed.has(name) ? [] : await sampleOf(database, site.name, record);
      const { instance, isEmpty, held } = await inspect(sample);
      return { instance, isEmpty, holdsExpected: sample.length === 0 ? null : held > 0 };
    },
    claim,
  };
};

/** Tables whose rows name bytes, with the migration that brought each. */
const blobTables = [
  ['0006_snippets_uploads', sql`select 1 from uploads limit 1`],
  ['0012_ci', sql`select 1 from artifacts limit 1`],
] as const;

const namesBytes = async (database: Database, record: InstanceRecord): Promise<boolean> => {
  if (database === null) return false;
  for (const [migration, query] of blobTables) {
    if (!record.applied.includes(migration)) continue;
    // oxlint-disable-next-line no-await-in-loop -- two at most
    if ((await query.execute(database.db)).rows.length > 0) return true;
  }
  return false;
};

const blobMarkerOf = async (config: Config): Promise<{ marker: BlobMarker; place: string }> => {
  const place = s3Place(config);
  if (place === null) {
    const root = join(config.data, 'blobs');
    return { marker: folderMarker(root), place: root };
  }
  const { openBucket } = await import('../blob/bucket.ts');
  const marker = bucketMarker(openBucket(place, () => undefined));
  return { marker, place: `the bucket ${place.bucket} at ${place.endpoint}` };
};

const blobStore = async (config: Config, database: Database): Promise<InstanceStore> => {
  const { marker, place } = await blobMarkerOf(config);
  return {
    name: 'blobs',
    label: `the store of artifacts and uploads (${place})`,
    remedy: 'check the settings GANTRY_BLOB_S3_... and --data, or restore it',
    inspect: async (record) => {
      const { instance, isEmpty } = await marker.inspect();
      if (instance !== null || record.claimed.has('blobs')) return { instance, isEmpty, holdsExpected: null };
      const isExpected = await namesBytes(database, record);
      // Of a database in use, bytes that no row names any more are no sign of another one.
      return {
        instance,
        isEmpty,
        holdsExpected: isExpected || !record.isEmpty ? !isEmpty || !isExpected : null,
      };
    },
    claim: marker.claim,
  };
};

export const storesOf = async (config: Config, database: Database): Promise<InstanceStore[]> => [
  ...config.repository_storages.map((site) => storageStore(config, database, site)),
  await blobStore(config, database),
];
