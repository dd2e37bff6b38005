/** Counts and ends the streams of server-sent events. */
import type { Platform } from '../../../core/platform.ts';
import { unavailable } from '../../../platform/errors.ts';
import { memoizePerStore } from '../../../platform/memoize_per_store.ts';

const maxStreams = 2_000;
/** Maximum streams of one user, so that nobody can exclude others. */
const maxPerUser = 50;

/** User ids by stream. */
type Streams = Map<AbortController, number>;

const getStreams = memoizePerStore((_platform: Platform): Streams => new Map());

/** @throws Failure 503 where too many streams are open */
export const openStream = (
  platform: Platform,
  user_id: number,
  maxMilliseconds: number,
): { signal: AbortSignal; end: () => void } => {
  const all = getStreams(platform);
  const own = [...all.values()].filter((one) => one === user_id).length;
  if (all.size >= maxStreams || own >= maxPerUser) throw unavailable();
  const control = new AbortController();
  all.set(control, user_id);
  const timer = setTimeout(() => control.abort(), maxMilliseconds).unref();
  const end = (): void => {
    clearTimeout(timer);
    all.delete(control);
    control.abort();
  };
  return { signal: control.signal, end };
};

/** Ends all streams, so that a service that stops does not wait for running jobs. */
export const endStreams = (platform: Platform): void => {
  for (const one of getStreams(platform).keys()) one.abort();
};
