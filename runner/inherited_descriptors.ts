/** Closes descriptors inherited by this process, so that jobs do not inherit them. */
import { closeSync, readFileSync, readdirSync } from 'node:fs';

/** `O_CLOEXEC` in the octal flags of `/proc/self/fdinfo`. */
const closesOnExec = 0o2000000;

const isInherited = (descriptor: number): boolean => {
  try {
    const [, flags = ''] =
      /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')) ?? [];
    // Node opens its own descriptors with close-on-exec, and marks inherited descriptors up to the first gap.
    return flags !== '' && (Number.parseInt(flags, 8) & closesOnExec) === 0;
  } catch {
    return false; // closed since the folder was read
  }
};

/** Closes them; does nothing on systems without `/proc`. */
export const closeInheritedDescriptors = (): void => {
  let names: string[] = [];
  try {
    names = readdirSync('/proc/self/fd');
  } catch {
    return;
  }
  for (const descriptor of names.map(Number)) {
    if (descriptor > 2 && isInherited(descriptor)) closeSync(descriptor);
  }
};
