/**
 * Publishes the moments after which a change is durable, on a diagnostics channel. Only tests subscribe: they kill
 * the process there.
 */
import { channel } from 'node:diagnostics_channel';

export type FaultPoint =
  | 'objects.written'
  | 'refs.prepared'
  | 'refs.committed'
  | 'refs.durable'
  | 'push.received';

const effects = channel('gantry:effect');

export const reachFaultPoint = (effect: FaultPoint): void => {
  if (effects.hasSubscribers) effects.publish({ effect });
};
