/** A file system in memory of a few megabytes that can be filled and made read-only. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type SmallDisk = {
  /** Fills the disk: nothing more can be written. */
  fill: () => void;
  makeReadOnly: () => void;
  remove: () => void;
};

const run = (program: string, ...args: string[]): void =>
  void execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });

/**
 * Mounts a file system at this folder, which exists and is empty.
 * @returns the reason as text if this machine cannot mount it
 */
export const newSmallDisk = (folder: string, megabytes: number): SmallDisk | string => {
  try {
    run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', folder);
  } catch (error) {
    return `no file system can be mounted here: ${(error as Error).message}`;
  }
  return {
    fill: () => {
      for (let bytes = 1024 * 1024; bytes >= 4096; bytes /= 4) {
        try {
          for (let count = 0; ; count += 1)
            writeFileSync(join(folder, `filler_${bytes}_${count}`), Buffer.alloc(bytes));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        }
      }
    },
    makeReadOnly: () => run('mount', '-o', 'remount,ro', folder),
    remove: () => run('umount', '--lazy', folder),
  };
};
