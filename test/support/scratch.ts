/** Where tests leave what is thrown away after them. */
import { accessSync, chmodSync, constants, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const memory = '/dev/shm';

/** Bytes: more than the largest of the steps needs at once. */
const roomy = 6 * 2 ** 30;

/** In memory where there is room: on a disk, most of the time is waiting for it to keep what is thrown away. */
const quickFolder = (): string => {
  try {
    accessSync(memory, constants.W_OK);
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= roomy ? memory : tmpdir();
  } catch {
    return tmpdir(); // this machine has no such folder
  }
};

/** Makes the folder, and has this process and those it starts use it for whatever is temporary. */
export const makeScratch = (): string => {
  const folder = mkdtempSync(join(quickFolder(), 'gantry-test-'));
  chmodSync(folder, 0o711); // as root, jobs of the runner run as others and must reach their folders
  process.env['TMPDIR'] = folder;
  return folder;
};
