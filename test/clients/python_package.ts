/** Installs clients of Python beside other caches of the tests. */
import { spawnSync } from 'node:child_process';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const cache = join(import.meta.dirname, '../../node_modules/.cache/gantry/python');

/** Returns the folder for `PYTHONPATH`; null if Python or the package is not there. */
export const installPythonPackage = (name: string, version: string): string | null => {
  const folder = join(cache, `${name}-${version}`);
  if (existsSync(folder)) return folder;
  // Another test process may install it at the same time.
  const target = `${folder}.${process.pid}`;
  const options = ['--quiet', '--no-cache-dir', '--no-compile', '--target', target];
  const { status } = spawnSync('python3', ['-m', 'pip', 'install', ...options, `${name}==${version}`]);
  try {
    if (status === 0 && !existsSync(folder)) renameSync(target, folder);
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
  return existsSync(folder) ? folder : null;
};
