/** Checks that a backup was verified lately. */
import { maxBackupAge } from '../../../doors/instance/health/judge_health.ts';
import { loadLastBackups } from '../../../doors/instance/health/last_backups.ts';
import type { Config } from '../../../platform/config/fields.ts';
import type { Store } from '../../../platform/db/open.ts';
import { formatTime } from '../../../platform/time.ts';
import { type Finding, ok, warn } from './finding.ts';

const advice =
  'run "gantry backup create --verify", or set GANTRY_BACKUP_TO and GANTRY_BACKUP_SCHEDULE (docs/backup.md)';

/** Checks when a backup was last made, where none is verified here. */
const checkUnverified = (finished_at: number, failed: string, now: number): Finding => {
  const detail = `the last was made at ${formatTime(finished_at)}; GANTRY_BACKUP_VERIFY=never: verify it elsewhere${failed}`;
  const isFine = failed === '' && now - finished_at <= maxAge;
  return isFine ? ok('backup', detail) : warn('backup', detail, advice);
};

export const checkBackups = async ({ db }: Store, config: Config, now: number): Promise<Finding> => {
  const { finished_at, verified_at, error } = await loadLastBackups(db);
  const failed = error === null ? '' : `; the newest failed: ${error}`;
  if (finished_at === null) return warn('backup', `none was made by this program${failed}`, advice);
  if (config.backup_verify === 'never') return checkUnverified(finished_at, failed, now);
  if (verified_at === null)
    return warn('backup', `the last of ${formatTime(finished_at)} was not verified${failed}`, advice);
  const detail = `the last verification was at ${formatTime(verified_at)}${failed}`;
  return now - verified_at > maxBackupAge || error !== null
    ? warn('backup', detail, advice)
    : ok('backup', detail);
};
