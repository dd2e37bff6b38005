/** Notifications between the processes of one service: LISTEN on a separate connection, reopened when it is lost. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { OpenOptions } from '../engine.ts';
import { getConnectTimeout } from './connect_timeout.ts';
import { listenerName } from '../process_name.ts';

/**
 * Returns the channel of a service. Services with different schemas on one server do not receive each other's
 * notifications.
 */
export const getChannelName = ({ schema }: OpenOptions): string => `gantry_${schema}`.slice(0, 63);

const firstPause = 100;
const maxPauseMilliseconds = 1_000;

/** Opens a connection that listens. */
const connect = async (
  { url }: OpenOptions,
  channel: string,
  onTopic: (topic: string | null) => void,
): Promise<pg.Client> => {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: getConnectTimeout(url),
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
 * Receives every topic and reconnects when the connection is lost. Then calls back with null, because notifications
 * may have been missed.
 */
export const listen = async (
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
    for (let wait = firstPause; !stop.signal.aborted; wait = Math.min(wait * 2, maxPauseMilliseconds)) {
      try {
        await pause(wait, undefined, { signal: stop.signal });
        await open();
        onTopic(null);
        return;
      } catch {
        // The server is still unreachable, or the service stops.
      }
    }
  };

  await open();
  return async () => {
    stop.abort();
    await client?.end();
  };
};
