/**
 * The moments of an operation on refs, and of an artifact's upload, after which something has lasted, told on a
 * diagnostics channel: nobody listens but tests, which end the process there.
 */
import { channel } from 'node:diagnostics_channel';

export type Effect = 'operation.begun' | 'refs.moved' | 'operation.completed' | 'artifact.placed';

const effects = channel('gantry:effect');

export const reached = (effect: Effect): void => {
  if (effects.hasSubscribers) effects.publish({ effect });
};
