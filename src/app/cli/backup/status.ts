import type { Command } from 'commander';
import { isActive, loadNextBackup } from '../../../doors/instance/health/running_backup.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { formatTime, systemClock } from '../../../platform/time.ts';
import { action } from '../command_builders.ts';
import { print } from '../print_result.ts';
import { readDataSettings } from '../data_owner.ts';
import { addSettings } from '../setting_options.ts';
import { withStore } from '../with_store.ts';
import { formatBytes } from '../../../platform/format_bytes.ts';
import type { Options } from './command_helpers.ts';

type Row = Awaited<ReturnType<typeof loadNewest>>[number];

const loadNewest = async (db: Reader) =>
  await db.selectFrom('backups').selectAll().orderBy('id', 'desc').limit(5).execute();

const describe = (row: Row, now: number): string => {
  const { part, part_done, part_total, error, finished_at, verified_at, bytes } = row;
  if (isActive(row, now)) return part === null ? 'running' : `running: ${part} ${part_done} of ${part_total}`;
  if (error !== null) return `failed: ${error}`;
  if (finished_at === null) return 'did not end';
  const size = bytes === null ? '' : `, ${formatBytes(bytes)} added`;
  const verified = verified_at === null ? 'not verified' : `verified at ${formatTime(verified_at)}`;
  return `made at ${formatTime(finished_at)}${size}, ${verified}`;
};

const toTime = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());

const toJson = (row: Row, now: number): object => ({
  name: row.name,
  destination: row.destination,
  running: isActive(row, now),
  part: row.part,
  done: row.part_done,
  total: row.part_total,
  started_at: toTime(row.started_at),
  finished_at: toTime(row.finished_at),
  verified_at: toTime(row.verified_at),
  added: row.bytes,
  error: row.error,
});

const showStatus = async (options: Options): Promise<void> => {
  const { config } = readDataSettings(options);
  const { rows, next } = await withStore(config, async ({ db }) => ({
    rows: await loadNewest(db),
    next: await loadNextBackup(db),
  }));
  const now = systemClock.now();
  const lines = [
    ...rows.map((row) => `${row.name}  ${row.destination}  ${describe(row, now)}`),
    next === null ? 'No backup is scheduled.' : `The next scheduled one is due at ${formatTime(next)}.`,
  ];
  print(options, { backups: rows.map((row) => toJson(row, now)), next_at: toTime(next) }, lines.join('\n'));
};

export const statusCommand = (): Command =>
  addSettings(
    action('status', {
      summary:
        'Show the latest backups that this instance made: how far a running one or its verification is, how others ended, and when the next is due.',
      examples: ['gantry backup status', 'gantry backup status --json'],
    }),
    ['data'],
  ).action(showStatus);
