/** A file system of its own whose power can be cut: an image, a loop device, ext4 and its shutdown call. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

export type Disk = {
  /** What is not on the disk at this moment is lost; all that follows fails. */
  cutPower: () => void;
  /** As after the power is back: the journal is read. Waits for processes that still hold the dead disk. */
  comeBack: () => Promise<void>;
  remove: () => Promise<void>;
};

const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: nothing more is written, not even the journal. */
const shutdown =
  'my $how = pack("L", 2); open(my $disk, "<", $ARGV[0]) or die $!; ioctl($disk, 0x8004587d, $how) or die $!';

const unmount = async (folder: string): Promise<void> => {
  for (let tries = 0; ; tries += 1) {
    try {
      run('umount', folder);
      return;
    } catch (error) {
      if (tries === 100) throw error;
      await pause(100);
    }
  }
};

/**
 * Mounts one at this folder, which exists and is empty.
 * @returns why this machine cannot, where it cannot
 */
export const newDisk = (folder: string, megabytes: number): Disk | string => {
  const image = `${folder}.image`;
  try {
    run('truncate', '--size', `${megabytes}M`, image);
    run('mkfs.ext4', '-q', '-F', image);
    run('mount', '-o', 'loop', image, folder);
  } catch (error) {
    rmSync(image, { force: true });
    return `no loop file system can be mounted here: ${(error as Error).message}`;
  }
  return {
    cutPower: () => void run('perl', '-e', shutdown, folder),
    comeBack: async () => {
      await unmount(folder);
      run('mount', '-o', 'loop', image, folder);
    },
    remove: async () => {
      await unmount(folder);
      rmSync(image, { force: true });
    },
  };
};
