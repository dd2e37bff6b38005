/** Answers that go on as long as there is something to tell. */
import type { Platform } from '../access/call.ts';
import { unavailable } from '../errors.ts';
import { oncePer } from '../once_per.ts';

const mostStreams = 2_000;
/** So that nobody keeps all others out. */
const mostOfOne = 50;

/** Whose they are. */
type Streams = Map<AbortController, number>;

const streamsOf = oncePer((_platform: Platform): Streams => new Map());

/** @throws Failure 503 where too many are open */
export const openStream = (
  platform: Platform,
  user_id: number,
  longest: number,
): { signal: AbortSignal; end: () => void } => {
  const all = streamsOf(platform);
  const own = [...all.values()].filter((one) => one === user_id).length;
  if (all.size >= mostStreams || own >= mostOfOne) throw unavailable();
  const control = new AbortController();
  all.set(control, user_id);
  const timer = setTimeout(() => control.abort(), longest).unref();
  const end = (): void => {
    clearTimeout(timer);
    all.delete(control);
    control.abort();
  };
  return { signal: control.signal, end };
};

/** Ends all: a service that stops does not wait for jobs to end. */
export const endStreams = (platform: Platform): void => {
  for (const one of streamsOf(platform).keys()) one.abort();
};
