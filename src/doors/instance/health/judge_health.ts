/** Judges how the parts of the service are: for monitors, the page of administrators and metrics. Pure. */
import { certificateNotice } from '../../../platform/git/storages.ts';
import type { WorkFigures } from '../../../platform/queue/inspect_work.ts';
import type { BackupFacts, HealthFacts, Space, StorageFacts } from './read_health.ts';
import { dayMilliseconds } from '../../../platform/time.ts';

/** `attention`: it works, and somebody should look at it. */
export type Judgement = 'ok' | 'attention' | 'failed';

/** Free bytes below which a disk needs attention. */
const leastFree = 1_000_000_000;
/** Seconds that due work may wait. */
const longestLag = 300;
/** Milliseconds after which the last backup that counts is old. */
export const maxBackupAge = 8 * dayMilliseconds;

export const judgeSpace = (space: Space | null): Judgement =>
  space !== null && space.free < leastFree ? 'attention' : 'ok';

/** Whether a certificate ends soon, or has ended. */
const endsSoon = (ends: number | null, now: number): boolean =>
  ends !== null && ends - now < certificateNotice;

export const judgeStorage = ({ status, space, certificate_ends }: StorageFacts, now: number): Judgement => {
  if (status === null) return 'failed';
  return endsSoon(certificate_ends, now) ? 'attention' : judgeSpace(space);
};

export type WorkSums = { waiting: number; running: number; failed: number; lag_seconds: number };

/** Sums background work of all kinds. */
export const sumWork = (work: readonly WorkFigures[], now: number): WorkSums => {
  const sum = (name: 'waiting' | 'running' | 'failed'): number =>
    work.reduce((all, one) => all + one[name], 0);
  const due = work.map((one) => one.due).filter((time) => time !== null);
  const lag_seconds = due.length === 0 ? 0 : Math.max(0, now - Math.min(...due)) / 1000;
  return { waiting: sum('waiting'), running: sum('running'), failed: sum('failed'), lag_seconds };
};

export const judgeWork = ({ failed, lag_seconds }: WorkSums): Judgement =>
  failed > 0 || lag_seconds > longestLag ? 'attention' : 'ok';

export const judgeRunners = ({ pending, lately }: NonNullable<HealthFacts['runners']>): Judgement =>
  pending > 0 && lately === 0 ? 'attention' : 'ok';

/** An instance that was never backed up and has no place for backups is backed up by other means, or a trial. */
export const judgeBackups = (
  { isConfigured, isVerifying, finished_at, verified_at, error }: Omit<BackupFacts, 'running' | 'next_at'>,
  now: number,
): Judgement => {
  if (error !== null) return 'attention';
  if (!isConfigured && finished_at === null) return 'ok';
  const last = isVerifying ? verified_at : finished_at;
  return last === null || now - last > maxBackupAge ? 'attention' : 'ok';
};

type Check = { status: Judgement } & Record<string, string | number | null>;

export type HealthReport = {
  status: Judgement;
  checks: {
    database: Check;
    storages: (Check & { name: string })[];
    disk: Check;
    blobs: Check;
    queue: Check;
    runners: Check;
    backups: Check;
  };
};

const spaceFields = (space: Space | null): Record<string, number> =>
  space === null ? {} : { free_bytes: space.free, total_bytes: space.total };

const checkBackups = (backups: BackupFacts | null, now: number): Check => {
  if (backups === null) return { status: 'failed' };
  const { finished_at, verified_at, error } = backups;
  return {
    status: judgeBackups(backups, now),
    finished_at: finished_at === null ? null : new Date(finished_at).toISOString(),
    verified_at: verified_at === null ? null : new Date(verified_at).toISOString(),
    error,
  };
};

const makeChecks = (facts: HealthFacts, now: number): HealthReport['checks'] => {
  const { database, storages, space, hasBlobs, runners, work, backups } = facts;
  const sums = work === null ? null : sumWork(work, now);
  return {
    database:
      database === null
        ? { status: 'failed' }
        : {
            status: 'ok',
            engine: database.engine,
            version: database.version,
            size_bytes: database.size,
          },
    storages: storages.map((one) => ({
      name: one.name,
      status: judgeStorage(one, now),
      git: one.status?.git ?? null,
      ...(one.certificate_ends !== null && {
        certificate_ends: new Date(one.certificate_ends).toISOString(),
      }),
      ...spaceFields(one.space),
    })),
    disk: { status: judgeSpace(space), ...spaceFields(space) },
    blobs: { status: hasBlobs ? 'ok' : 'failed' },
    queue: sums === null ? { status: 'failed' } : { status: judgeWork(sums), ...sums },
    runners: runners === null ? { status: 'failed' } : { status: judgeRunners(runners), ...runners },
    backups: checkBackups(backups, now),
  };
};

const ranks: readonly Judgement[] = ['ok', 'attention', 'failed'];

/** Judges all parts; the whole is as ill as its worst part. */
export const judgeHealth = (facts: HealthFacts, now: number): HealthReport => {
  const checks = makeChecks(facts, now);
  const parts = Object.values(checks).flat();
  const worst = Math.max(...parts.map((check) => ranks.indexOf(check.status)));
  return { status: ranks[worst] ?? 'failed', checks };
};
