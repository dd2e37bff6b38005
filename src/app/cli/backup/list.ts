import type { Command } from 'commander';
import type { Manifest } from '../../backup/manifest.ts';
import { openPlaceToRead } from '../../backup/open_place.ts';
import { listBackups, loadManifest } from '../../backup/places/backup_place.ts';
import { action, columns, formatCount, print } from '../define_commands.ts';
import { addSettings, readSettings } from '../setting_options.ts';
import { type Options, formatCounts, getPlace } from './command_helpers.ts';
import { withScratch } from './scratch_folder.ts';

const toRow = ({ name, version, counts, secrets, problems }: Manifest): string[] => [
  name,
  version,
  ...formatCounts(counts),
  secrets === null ? 'without secrets' : 'with secrets',
  problems.length === 0 ? '' : formatCount(problems.length, 'problem'),
];

const list = async (from: string | undefined, options: Options): Promise<void> => {
  const { config } = readSettings(options);
  const place = getPlace(from, config);
  const found = await withScratch(config, async (scratch) => {
    const reader = await openPlaceToRead(config, place, scratch);
    const manifests: Manifest[] = [];
    for (const name of await listBackups(reader)) manifests.push(await loadManifest(reader, name));
    return manifests;
  });
  const shown = found.map(({ name, version, created_at, engine, counts, secrets, problems }) => ({
    name,
    version,
    created_at: new Date(created_at).toISOString(),
    engine,
    counts,
    with_secrets: secrets !== null,
    problems,
  }));
  print(options, shown, found.length === 0 ? 'No backups.' : columns(found.map(toRow)));
};

export const listCommand = (): Command =>
  addSettings(
    action('list', {
      summary: 'List the backups of a place, oldest first.',
      examples: ['gantry backup list /srv/backups', 'gantry backup list s3://backups/gantry --json'],
    }).argument('[place]', 'a folder, FILE.tar.zst or s3://BUCKET/PREFIX (without it: GANTRY_BACKUP_TO)'),
    ['data'],
  ).action(list);
