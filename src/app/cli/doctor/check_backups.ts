/** Checks that a backup was verified recently, and where backups are stored. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { maxBackupAge } from '../../../doors/instance/health/judge_health.ts';
import { loadLastBackups } from '../../../doors/instance/health/last_backups.ts';
import { isBucket } from '../../backup/open_place.ts';
import type { Config } from '../../../platform/config/fields.ts';
import type { Store } from '../../../platform/db/open.ts';
import { formatTime } from '../../../platform/time.ts';
import { type Finding, ok, warn } from './finding.ts';
import { findExisting } from '../../backup/checks/require_space_for_backup.ts';

/** Checks that backups are not lost with the disk of the data folder. */
export const checkBackupPlace = ({ data, backup_to }: Config): Finding[] => {
  if (backup_to === null || isBucket(backup_to)) return [];
  const place = resolve(backup_to);
  const isSameDisk = statSync(findExisting(place)).dev === statSync(findExisting(data)).dev;
  if (!isSameDisk) return [ok('backup place', `${place}, on a different disk from the data folder`)];
  return [
    warn(
      'backup place',
      `${place} is on the same disk as the data folder: losing that disk loses both`,
      'name a folder of another disk or machine, or s3://BUCKET/PREFIX, in GANTRY_BACKUP_TO',
    ),
  ];
};

const advice =
  'run "gantry backup create --verify", or set GANTRY_BACKUP_TO and GANTRY_BACKUP_SCHEDULE (docs/backup.md)';

/** Checks when a backup was last made, when backups are not verified on this machine. */
const checkUnverified = (finished_at: number, failureNote: string, now: number): Finding => {
  const detail = `the last was made at ${formatTime(finished_at)}; GANTRY_BACKUP_VERIFY=never: verify it elsewhere${failureNote}`;
  const isFine = failureNote === '' && now - finished_at <= maxBackupAge;
  return isFine ? ok('backup', detail) : warn('backup', detail, advice);
};

export const checkBackups = async ({ db }: Store, config: Config, now: number): Promise<Finding> => {
  const { finished_at, verified_at, error } = await loadLastBackups(db, now);
  const failureNote = error === null ? '' : `; the newest failed: ${error}`;
  if (finished_at === null) return warn('backup', `none was made by this program${failureNote}`, advice);
  if (config.backup_verify === 'never') return checkUnverified(finished_at, failureNote, now);
  if (verified_at === null)
    return warn(
      'backup',
      `the last one, from ${formatTime(finished_at)}, was not verified${failureNote}`,
      advice,
    );
  const detail = `the last verification was at ${formatTime(verified_at)}${failureNote}`;
  return now - verified_at > maxBackupAge || error !== null
    ? warn('backup', detail, advice)
    : ok('backup', detail);
};
