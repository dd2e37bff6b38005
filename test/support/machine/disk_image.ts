/** A file system on a loop device whose power can be cut: an ext4 image and its shutdown ioctl. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

export type Disk = {
  /** Cuts the power: what is not on the disk is lost, and every later access fails. */
  cutPower: () => void;
  /** Restores the power: remounts and replays the journal. Waits for processes that still use the dead disk. */
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
      await wait(100);
    }
  }
};

/**
 * Mounts a file system at this folder, which exists and is empty.
 * @returns the reason as text if this machine cannot mount it
 */
export const newDisk = (folder: string, megabytes: number): Disk | string => {
  let image = `${folder}.image`;
  let copies = 0;
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
      // A sandbox of another test may still have the dead file system mounted. Mounting the same image would revive
      // it.
      copies += 1;
      const copy = `${folder}.image.${copies}`;
      run('cp', '--sparse=always', image, copy);
      rmSync(image);
      image = copy;
      run('mount', '-o', 'loop', image, folder);
    },
    remove: async () => {
      await unmount(folder);
      rmSync(image, { force: true });
    },
  };
};
