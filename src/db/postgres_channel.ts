/** What the processes of one service tell each other: LISTEN on a connection of its own, made anew when it is lost. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { OpenOptions } from './engine.ts';
import { connectPatience } from './postgres_patience.ts';
import { listenerName } from './process.ts';

/** Services that share a server and have schemas of their own do not hear each other. */
export const channelOf = ({ schema }: OpenOptions): string => `gantry_${schema}`.slice(0, 63);

const firstPause = 100;
const longestPause = 1_000;

/** Resolves with a connection that listens. */
const connect = async (
  { url }: OpenOptions,
  channel: string,
  onTopic: (topic: string | null) => void,
): Promise<pg.Client> => {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectPatience(url),
    keepAlive: true,
    application_name: listenerName,
  });
  client.on('error', () => undefined); // `end` follows
  client.on('notification', ({ payload }) => onTopic(payload ?? ''));
  await client.connect();
  await client.query(`listen ${pg.escapeIdentifier(channel)}`);
  return client;
};

/**
 * Hears every topic, whatever becomes of the connection: with a new one, null says that any may have been missed.
 */
export const hear = async (
  options: OpenOptions,
  channel: string,
  onTopic: (topic: string | null) => void,
): Promise<() => Promise<void>> => {
  const stop = new AbortController();
  let client: pg.Client | null = null;

  const open = async (): Promise<void> => {
    const opened = await connect(options, channel, onTopic);
    client = opened;
    opened.once('end', () => void (stop.signal.aborted || void reopen()));
  };

  const reopen = async (): Promise<void> => {
    client = null;
    for (let wait = firstPause; !stop.signal.aborted; wait = Math.min(wait * 2, longestPause)) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one try after another
        await pause(wait, undefined, { signal: stop.signal });
        await open(); // oxlint-disable-line no-await-in-loop
        onTopic(null);
        return;
      } catch {
        // The server is still away, or the service ends.
      }
    }
  };

  await open();
  return async () => {
    stop.abort();
    await client?.end();
  };
};
