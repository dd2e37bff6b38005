/** Waits for changes: a long poll, and a stream of server-sent events. */
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { type Call, requireUser } from '../../core/access/call.ts';
import { openEventStream } from '../../core/access/open_streams.ts';
import { revalidateCall } from '../../core/access/revalidate_call.ts';
import { unauthorized } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/endpoint.ts';
import { makeWakeup } from '../../platform/queue/wakeup.ts';
import { type ChangeFilter, type ChangePage, type ChangeRequest, listChanges } from './list_changes.ts';
import { watchLog } from './watch_log.ts';

/** Milliseconds after which the stream ends; the client reconnects. */
const maxStreamMilliseconds = 600_000;
/** Milliseconds without events after which a comment is sent, which keeps proxies from closing the connection. */
const keepaliveInterval = 15_000;
/** Milliseconds between two reads of one client, so that busy times are read in larger pages. */
const minInterval = 100;
/** Milliseconds after which changes are read that an open transaction kept back: if it fails, nothing is announced. */
const heldBackInterval = 250;
/** Changes of one read. */
const maxChanges = 100;

type Follower = ChangeRequest & { call: Call; signal: AbortSignal };

/**
 * Yields pages of changes that the caller sees: existing changes immediately, then a page after each change. A page may
 * be empty. Access is checked before each read.
 * @param timeout milliseconds to wait for a change before an empty page
 */
const pages = async function* pages(
  { call, after: start, limit, filter, signal }: Follower,
  timeout: number,
): AsyncGenerator<ChangePage> {
  const wakeup = makeWakeup();
  signal.addEventListener('abort', wakeup.wakeUp);
  const end = await watchLog(call.platform, wakeup.wakeUp);
  try {
    let after = start;
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const current = isFirst ? call : await revalidateCall(call);
      if (current === null) throw unauthorized();
      wakeup.reset();
      const page = await listChanges(current, { after, limit, filter });
      after = page.next_after;
      yield page;
      if (!page.isAtEnd) continue;
      await wakeup.wait(page.isHeldBack ? heldBackInterval : timeout);
      if (!signal.aborted) await wait(minInterval);
    }
  } finally {
    signal.removeEventListener('abort', wakeup.wakeUp);
    end();
  }
};

/** Opens a place among the streams of the caller; a connection that the client closes gives it back. */
const openPlace = (call: Call, milliseconds: number) => {
  const client = { user_id: requireUser(call).id, address: call.ip };
  const stream = openEventStream(call.platform, client, milliseconds);
  call.incoming.socket.once('close', stream.end);
  const end = (): void => {
    call.incoming.socket.off('close', stream.end);
    stream.end();
  };
  return { signal: stream.signal, end };
};

/**
 * Returns the first page that is not empty, or an empty one after this time.
 * @throws Failure 503 if too many connections wait
 */
export const waitForChanges = async (
  call: Call,
  { after, limit, filter }: ChangeRequest,
  seconds: number,
): Promise<ChangePage> => {
  const { signal, end } = openPlace(call, seconds * 1_000);
  let last: ChangePage = { changes: [], next_after: after ?? 0, isAtEnd: true, isHeldBack: false };
  try {
    for await (const page of pages({ call, after, limit, filter, signal }, seconds * 1_000)) {
      last = page;
      if (page.changes.length > 0) break;
    }
    return last;
  } finally {
    end();
  }
};

const events = async function* events(follower: Follower): AsyncGenerator<string> {
  let sent = follower.after;
  try {
    for await (const { changes, next_after } of pages(follower, keepaliveInterval)) {
      for (const change of changes) {
        yield `id: ${change.id}\nevent: change\ndata: ${JSON.stringify(change)}\n\n`;
      }
      const last = changes.at(-1)?.id ?? sent;
      // Sends the position to continue at, after changes that the caller cannot see; otherwise keeps the connection
      // open.
      if (next_after !== last) yield `id: ${next_after}\n\n`;
      else if (changes.length === 0) yield ': \n\n';
      sent = next_after;
    }
  } catch {
    // The caller lost access, or the database is unavailable: the client reconnects and receives the reason.
  }
};

/** @throws Failure 503 if too many streams are open */
export const followChanges = (call: Call, after: number | null, filter: ChangeFilter): Answer => {
  const headers = {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    // Proxies would buffer the events.
    'x-accel-buffering': 'no',
  };
  if (call.incoming.method === 'HEAD') return new Answer(Readable.from([]), { headers });
  const { signal, end } = openPlace(call, maxStreamMilliseconds);
  const body = Readable.from(events({ call, after, limit: maxChanges, filter, signal }), {
    objectMode: false,
  });
  return new Answer(body, { headers, onSent: end });
};
