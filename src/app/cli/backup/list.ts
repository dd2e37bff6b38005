import type { Command } from 'commander';
import type { Manifest } from '../../backup/manifest.ts';
import { openPlaceToRead } from '../../backup/open_place.ts';
import { type BackupReader, listBackups, loadManifest } from '../../backup/places/backup_place.ts';
import { formatBytes } from '../../../platform/format_bytes.ts';
import type { Config } from '../../../platform/config/fields.ts';
import { Failure } from '../../../platform/errors.ts';
import { formatTime } from '../../../platform/time.ts';
import { databaseExists } from '../../service/open_database.ts';
import { withStore } from '../with_store.ts';
import { action } from '../command_builders.ts';
import { columns, print } from '../print_result.ts';
import { spellCount } from '../../../platform/spell_count.ts';
import { readDataSettings } from '../data_owner.ts';
import { addSettings } from '../setting_options.ts';
import { type Options, formatCounts, getPlace } from './command_helpers.ts';
import { withScratch } from './scratch_folder.ts';

type Verification = { verified_at: number | null; error: string | null };

/** A backup, or why it cannot be read. */
type Listed = { name: string; manifest: Manifest | null; error: string | null };

const loadBackup = async (place: BackupReader, name: string): Promise<Listed> => {
  try {
    return { name, manifest: await loadManifest(place, name), error: null };
  } catch (error) {
    if (error instanceof Failure) throw error; // an outage
    return { name, manifest: null, error: (error as Error).message };
  }
};

/** Loads what the instance of the data folder, if there is one, knows of its backups. */
const loadVerifications = async (config: Config): Promise<Map<string, Verification>> => {
  if (!databaseExists(config)) return new Map();
  const load = withStore(
    config,
    async ({ db }) => await db.selectFrom('backups').select(['name', 'verified_at', 'error']).execute(),
  );
  // The place can be listed without the database, or with one of another version.
  const rows = await load.catch(() => []);
  return new Map(rows.map(({ name, ...verification }) => [name, verification]));
};

const countBytes = ({ sizes }: Manifest): number | null =>
  sizes === undefined ? null : sizes.database + sizes.repositories + sizes.files;

const formatVerification = (known: Verification | undefined): string => {
  if (known === undefined) return '';
  if (known.error !== null) return 'failed verification';
  return known.verified_at === null ? 'not verified' : `verified ${formatTime(known.verified_at)}`;
};

const toRow = (manifest: Manifest, known: Verification | undefined): string[] => {
  const { name, version, counts, secrets, problems } = manifest;
  const bytes = countBytes(manifest);
  return [
    name,
    version,
    ...formatCounts(counts),
    bytes === null ? '' : formatBytes(bytes),
    secrets === null ? 'without secrets' : 'with secrets',
    formatVerification(known),
    problems.length === 0 ? '' : spellCount(problems.length, 'problem'),
  ];
};

const toJson = ({ name, manifest, error }: Listed, known: Verification | undefined): object => {
  if (manifest === null) return { name, error };
  const { version, created_at, engine, counts, secrets, problems } = manifest;
  const verified_at = known?.verified_at ?? null;
  return {
    name,
    version,
    created_at: new Date(created_at).toISOString(),
    engine,
    counts,
    size: countBytes(manifest),
    with_secrets: secrets !== null,
    verified_at: verified_at === null ? null : new Date(verified_at).toISOString(),
    verification_error: known?.error ?? null,
    problems,
  };
};

const list = async (from: string | undefined, options: Options): Promise<void> => {
  const { config } = readDataSettings(options);
  const named = getPlace(from, config);
  const listed = await withScratch(config, async (scratch) => {
    const place = await openPlaceToRead(config, named, scratch);
    const backups: Listed[] = [];
    for (const name of await listBackups(place)) backups.push(await loadBackup(place, name));
    return backups;
  });
  const verifications = await loadVerifications(config);
  const rows = listed.flatMap(({ name, manifest }) =>
    manifest === null ? [] : [toRow(manifest, verifications.get(name))],
  );
  const damaged = listed.flatMap(({ error }) => (error === null ? [] : [`warning: ${error}`]));
  print(
    options,
    listed.map((one) => toJson(one, verifications.get(one.name))),
    listed.length === 0 ? 'No backups.' : [columns(rows), ...damaged].filter(Boolean).join('\n'),
  );
};

export const listCommand = (): Command =>
  addSettings(
    action('list', {
      summary:
        'List the backups of a place, oldest first: what each has, the size of the restored instance, and whether the instance of the data folder knows it as verified.',
      examples: ['gantry backup list /srv/backups', 'gantry backup list s3://backups/gantry --json'],
    }).argument('[place]', 'a folder, FILE.tar.zst or s3://BUCKET/PREFIX (without it: GANTRY_BACKUP_TO)'),
    ['data'],
  ).action(list);
