/** Creates the folder for temporary files of a test run. */
import { accessSync, chmodSync, constants, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const memory = '/dev/shm';

/** Bytes: more than the largest step needs at once. */
const roomy = 6 * 2 ** 30;

/** Uses memory if it has room: on a disk, most of the time is spent waiting for syncs of discarded data. */
const quickFolder = (): string => {
  try {
    accessSync(memory, constants.W_OK);
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= roomy ? memory : tmpdir();
  } catch {
    return tmpdir(); // this machine has no such folder
  }
};

/** Creates the folder and makes it TMPDIR of this process and its children. */
export const makeScratch = (): string => {
  const folder = mkdtempSync(join(quickFolder(), 'gantry-test-'));
  chmodSync(folder, 0o711); // if run as root, jobs of the runner have other users and must reach their folders
  process.env['TMPDIR'] = folder;
  return folder;
};
