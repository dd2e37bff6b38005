/** Puts an archive into a project's folder, as the user that its jobs run as. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { extractZip } from '../zip/extract.ts';
import type { User } from './executors/run.ts';

/** @throws where it is damaged or would write anywhere else */
export const unpack = async (file: string, folder: string, user: User | null): Promise<void> => {
  await extractZip(file, folder);
  if (user === null) return;
  // Through no link: what one leads to is not the job's.
  await promisify(execFile)('/bin/chown', ['-R', '-h', '-P', `${user.uid}:${user.gid}`, '--', folder]);
};
