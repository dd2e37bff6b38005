/** Extracts an archive into a project's folder, owned by the jobs' user. */
import { extractZip } from '../../zip/extract_zip.ts';
import type { User } from '../executors/run_process.ts';

/** Extracts an archive. @throws if it is damaged or would write elsewhere */
export const unpack = async (file: string, folder: string, user: User | null): Promise<void> =>
  await extractZip(file, folder, { owner: user });
