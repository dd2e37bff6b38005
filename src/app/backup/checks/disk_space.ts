/** Compares the free space of a disk with what a step will write, before its first byte. */
import { statfsSync } from 'node:fs';
import { sql } from 'kysely';
import type { Store } from '../../../platform/db/open.ts';
import { StartFailure } from '../../../platform/errors.ts';
import { formatBytes } from '../../../platform/format_bytes.ts';

/** The part of a disk that stays free, and its limit in bytes: a full disk lets nobody write. */
const reserve = { share: 0.05, most: 1024 ** 3 };

export type SpaceNeed = {
  /** An existing folder on the disk. */
  folder: string;
  bytes: number;
  /** What is done, for the message: `the copy of the database`. */
  purpose: string;
  /** What the operator can do. */
  remedy: string;
};

/** @throws StartFailure if the disk has too little space */
export const requireSpace = ({ folder, bytes, purpose, remedy }: SpaceNeed): void => {
  const { bavail, blocks, bsize } = statfsSync(folder);
  const kept = Math.min(reserve.most, blocks * bsize * reserve.share);
  const usable = Math.max(0, Math.floor(bavail * bsize - kept));
  if (bytes <= usable) return;
  throw new StartFailure(
    `${purpose} needs about ${formatBytes(bytes)} in ${folder}, where ${formatBytes(usable)} may be used: ${remedy}`,
  );
};

export const scratchRemedy = 'make room, or name a folder on another disk in GANTRY_BACKUP_SCRATCH';

/** Returns about how many bytes a copy of the database as a SQLite file takes. */
export const measureDatabase = async ({ db, dialect }: Store): Promise<number> => {
  const query =
    dialect.engine === 'sqlite'
      ? sql<{
          size: number;
        }>`select page_count * page_size as size from pragma_page_count(), pragma_page_size()`
      : sql<{
          size: number;
        }>`select coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::float8 as size from pg_class
          join pg_namespace on pg_namespace.oid = relnamespace
          where nspname = current_schema() and relkind in ('r', 'p')`;
  const { rows } = await query.execute(db);
  return rows[0]?.size ?? 0;
};

/** Returns the bytes of artifacts, uploads and job logs, as their rows say. */
export const measureFiles = async ({ db }: Store): Promise<number> => {
  const { rows } = await sql<{ size: number | string }>`select
    (select coalesce(sum(size), 0) from artifacts) + (select coalesce(sum(size), 0) from uploads)
    + (select coalesce(sum(trace_size), 0) from jobs) as size`.execute(db);
  return Number(rows[0]?.size ?? 0);
};
