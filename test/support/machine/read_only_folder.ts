/** Makes a folder read-only while programs use it, as a failing disk does. */
import { execFileSync } from 'node:child_process';

const run = (program: string, ...args: string[]): void =>
  void execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });

/**
 * Mounts a folder over itself, without write access.
 * @returns makes it writable again; or the reason as text if this machine cannot mount it
 */
export const makeReadOnly = (folder: string): (() => void) | string => {
  try {
    run('mount', '--bind', folder, folder);
    run('mount', '-o', 'remount,bind,ro', folder);
  } catch (error) {
    return `nothing can be mounted here: ${(error as Error).message}`;
  }
  return () => run('umount', '--lazy', folder);
};
