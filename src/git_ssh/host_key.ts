import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartFailure } from '../errors.ts';

const fileName = 'ssh_host_ed25519_key';

/** The key by which clients know this server: made once, in the form of OpenSSH. */
export const openHostKey = (folder: string, make: () => string): string => {
  const file = join(folder, fileName);
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new StartFailure(`the SSH host key ${file} cannot be read (${(error as Error).message})`);
  }
  const key = make();
  writeFileSync(file, key, { mode: 0o600, flag: 'wx', flush: true });
  return key;
};
