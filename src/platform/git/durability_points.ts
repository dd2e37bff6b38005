/**
 * Publishes, on a diagnostics channel, the points at which an operation on refs, an artifact upload, or a step of a
 * repository's move or import becomes durable. Only tests subscribe: they kill the process there.
 */
import { channel } from 'node:diagnostics_channel';

export type Effect =
  | 'operation.begun'
  | 'refs.moved'
  | 'operation.completed'
  | 'artifact.placed'
  | 'import.listed'
  | 'import.received'
  | 'import.refs_set'
  | 'repository.copied'
  | 'repository.read_only'
  | 'repository.verified'
  | 'repository.switched';

const effects = channel('gantry:effect');

export const publishReached = (effect: Effect): void => {
  if (effects.hasSubscribers) effects.publish({ effect });
};
