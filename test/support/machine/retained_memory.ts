/** Measures memory that is still referenced after a full garbage collection. */
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Collects all garbage, including objects that weak references read in this tick kept alive. */
export const collectGarbage = async (): Promise<void> => {
  await setImmediate();
  collect();
  await setImmediate();
  collect();
};

/** Bytes of all referenced buffers. */
export const bufferBytes = async (): Promise<number> => {
  await collectGarbage();
  return process.memoryUsage().arrayBuffers;
};
