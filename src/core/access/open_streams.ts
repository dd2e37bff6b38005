/** Counts and ends responses that wait: streams of server-sent events, and long polls. */
import type { Platform } from '../platform.ts';
import { unavailable } from '../../platform/errors.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';

const maxStreams = 2_000;
/** Maximum streams of one user and of one address, so that nobody can exclude others. */
const maxPerUser = 50;
const maxPerAddress = 200;

type StreamClient = { user_id: number; address: string };

type Streams = Map<AbortController, StreamClient>;

const getStreams = memoizePerStore((_platform: Platform): Streams => new Map());

/** @throws Failure 503 if too many streams are open */
export const openEventStream = (
  platform: Platform,
  client: StreamClient,
  maxMilliseconds: number,
): { signal: AbortSignal; end: () => void } => {
  const streams = getStreams(platform);
  const others = [...streams.values()];
  const ofUser = others.filter(({ user_id }) => user_id === client.user_id).length;
  const ofAddress = others.filter(({ address }) => address === client.address).length;
  if (streams.size >= maxStreams || ofUser >= maxPerUser || ofAddress >= maxPerAddress) throw unavailable();
  const control = new AbortController();
  streams.set(control, client);
  const timer = setTimeout(() => control.abort(), maxMilliseconds).unref();
  const end = (): void => {
    clearTimeout(timer);
    streams.delete(control);
    control.abort();
  };
  return { signal: control.signal, end };
};

/** Ends all streams, so that a service that stops does not wait for them. */
export const endStreams = (platform: Platform): void => {
  for (const control of getStreams(platform).keys()) control.abort();
};
