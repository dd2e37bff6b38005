/** Paths of the package's own files. Sources and bundle are at the same depth of the package. */
import { join } from 'node:path';

/** Absolute path of the package's folder. */
export const packageRoot = join(import.meta.dirname, '../..');

/** True if the program runs from `dist/`, as built by `build.ts`. */
export const isBundled = !import.meta.filename.endsWith('.ts');

/**
 * Returns the path of a program or worker thread of the package.
 * @param source its source file, relative to the package
 * @param built its name in `dist/`, as `build.ts` declares it
 */
export const programPath = (source: string, built: string): string =>
  join(packageRoot, isBundled ? join('dist', `${built}.mjs`) : source);
