/** Puts an archive into a project's folder. What it makes belongs to the user that the project's jobs run as. */
import { extractZip } from '../zip/extract.ts';
import type { User } from './executors/run.ts';

/** @throws where it is damaged or would write anywhere else */
export const unpack = async (file: string, folder: string, user: User | null): Promise<void> =>
  await extractZip(file, folder, { owner: user });
