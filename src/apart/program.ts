import { join } from 'node:path';

export type Program = {
  /** Of the file that runs in the thread. */
  path: string;
  /** Milliseconds of one task, but for those in which it waits for answers. */
  longest: number;
  /** Megabytes that it may hold. */
  memory: number;
};

/**
 * Where a thread's program lies.
 * @param from the module that names it
 * @param source its file, as seen from there
 * @param built its name among the files that the build makes (`build.ts`)
 */
export const programPath = (from: ImportMeta, source: string, built: string): string =>
  from.filename.endsWith('.ts') ? join(from.dirname, source) : join(from.dirname, '..', `${built}.mjs`);
