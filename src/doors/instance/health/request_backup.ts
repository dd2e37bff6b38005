/** A backup outside of the schedule, requested by an administrator. */
import { recordAudit } from '../../../core/access/audit.ts';
import { type Call, requireActor } from '../../../core/access/call.ts';
import type { Config } from '../../../platform/config/fields.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { conflict } from '../../../platform/errors.ts';
import { enqueue } from '../../../platform/queue/enqueue.ts';
import { never } from '../../../platform/queue/leases.ts';
import { backupWork, loadRunningBackup, requestedBackupWork } from './running_backup.ts';

/** Returns why no backup can be requested; null: one can. */
export const findRequestProblem = ({ backup_to, quiet }: Config): string | null => {
  if (backup_to === null) return 'GANTRY_BACKUP_TO is not set';
  if (backup_to.endsWith('.tar.zst'))
    return `GANTRY_BACKUP_TO is one file, ${backup_to}, which each backup would overwrite`;
  return quiet ? 'this instance is a quiet copy, which makes no backups' : null;
};

/** Returns whether a requested backup waits, also to be tried again, or the work of any backup runs. */
export const isBackupRequested = async (db: Reader, now: number): Promise<boolean> => {
  const row = await db
    .selectFrom('work')
    .select('id')
    .where('name', 'in', [backupWork, requestedBackupWork])
    .where('run_at', '<', never)
    .where((is) => is.or([is('name', '=', requestedBackupWork), is('locked_until', '>', now)]))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

/**
 * Enqueues a backup to GANTRY_BACKUP_TO, which is verified as scheduled ones are.
 * @throws Failure 409 if none can be made, or one is requested or runs
 */
export const requestBackup = async (call: Call): Promise<void> => {
  const { config } = call.platform;
  const problem = findRequestProblem(config);
  if (problem !== null) throw conflict(`No backup was started: ${problem}.`);
  await call.write(async (tx) => {
    const isBusy =
      (await isBackupRequested(tx.db, tx.now)) || (await loadRunningBackup(tx.db, tx.now)) !== null;
    if (isBusy) throw conflict('No backup was started: another one is requested or runs.');
    await enqueue(tx, requestedBackupWork, {}, { unique_key: requestedBackupWork });
    await recordAudit(tx, requireActor(call), call, {
      kind: 'backup.requested',
      details: { destination: config.backup_to },
    });
  });
};
