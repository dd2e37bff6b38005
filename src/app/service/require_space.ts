/** Checks that a disk has enough free space before an operation writes to it. */
import { statfsSync } from 'node:fs';
import { StartFailure } from '../../platform/errors.ts';
import { formatBytes } from '../../platform/format_bytes.ts';

/** Space that is left free, because all writes fail on a full disk: a share of the disk, at most so many bytes. */
const reserve = { share: 0.05, most: 1024 ** 3 };

export type SpaceNeed = {
  /** An existing folder on the disk. */
  folder: string;
  bytes: number;
  /** The operation, for the error message: `the copy of the database`. */
  purpose: string;
  /** What the operator can do, for the error message. */
  remedy: string;
};

/** @throws StartFailure if the disk has too little free space */
export const requireSpace = ({ folder, bytes, purpose, remedy }: SpaceNeed): void => {
  const { bavail, blocks, bsize } = statfsSync(folder);
  const reserved = Math.min(reserve.most, blocks * bsize * reserve.share);
  const available = Math.max(0, Math.floor(bavail * bsize - reserved));
  if (bytes <= available) return;
  throw new StartFailure(
    `${purpose} needs about ${formatBytes(Math.ceil(bytes))} in ${folder}, but only ${formatBytes(available)} is available: ${remedy}`,
  );
};

export const scratchRemedy = 'free some space, or set GANTRY_BACKUP_SCRATCH to a folder on another disk';
