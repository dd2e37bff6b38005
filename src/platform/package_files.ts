/** Paths of the package's own files. Sources and bundle are at the same depth of the package. */
import { join } from 'node:path';

/** Absolute path of the package's folder. */
export const packageRoot = join(import.meta.dirname, '../..');

/** Whether the program runs from `dist/`, as `build.ts` made it. */
export const isBundled = !import.meta.filename.endsWith('.ts');

/**
 * Returns the path of a program or worker thread of the package.
 * @param source its source file, relative to the package
 * @param built its name in `dist/`, as `build.ts` declares it
 */
export const programPath = (source: string, built: string): string =>
  join(packageRoot, isBundled ? join('dist', `${built}.mjs`) : source);
