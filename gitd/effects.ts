/**
 * The moments after which something has lasted, told on a diagnostics channel: nobody listens but tests, which end
 * the process there.
 */
import { channel } from 'node:diagnostics_channel';

export type Effect =
  | 'objects.written'
  | 'refs.prepared'
  | 'refs.committed'
  | 'refs.durable'
  | 'push.received';

const effects = channel('gantry:effect');

export const reached = (effect: Effect): void => {
  if (effects.hasSubscribers) effects.publish({ effect });
};
