/**
 * Streams a growing trace as server-sent events: `log` (text; the event id is the next byte offset), `status`, and
 * `done` after the job has ended and all text is sent.
 */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type Call, requireUser } from '../../../core/access/call.ts';
import { openEventStream } from '../../../core/access/open_streams.ts';
import { revalidateCall } from '../../../core/access/revalidate_call.ts';
import { Failure } from '../../../platform/errors.ts';
import { Answer } from '../../../platform/http/endpoint.ts';
import type { JobRow } from '../../jobs/rows.ts';
import { shownStatus } from '../../../code/repository/statuses/pipeline_summary.ts';
import { findJobById } from '../archives/find_job_by_id.ts';
import { watchJob } from './watch_statuses.ts';
import { readTrace, getTraceSize } from './serve_trace.ts';

/** Maximum bytes of one event. */
const chunkSize = 64 * 1024;
/** Milliseconds without events after which a comment is sent, which keeps proxies from closing the connection. */
const keepaliveInterval = 15_000;
/** Milliseconds after which the stream ends; the client reconnects. */
const maxStreamMilliseconds = 600_000;
/** Milliseconds for which a permission check stays valid. */
const accessLifetime = 2_000;

/** Counts the bytes that end on a character boundary. Bytes that are not UTF-8 count as whole characters. */
const countWholeCharacters = (bytes: Buffer): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
};

const event = (name: string, data: object, id?: number): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

const hasEnded = ({ status }: JobRow): boolean =>
  status === 'success' || status === 'failed' || status === 'canceled' || status === 'skipped';

type Follower = {
  call: Call;
  job: JobRow;
  offset: number;
  signal: AbortSignal;
  /** When the permission was last checked. */
  checked_at: number;
};

/**
 * Checks that the reader may still read the trace: their token, their membership and the project's visibility may have
 * changed.
 */
const checkAccess = async (follower: Follower): Promise<boolean> => {
  const now = follower.call.platform.clock.now();
  if (Math.abs(now - follower.checked_at) < accessLifetime) return true;
  follower.checked_at = now;
  const call = await revalidateCall(follower.call);
  if (call === null) return false;
  follower.call = call;
  return await findJobById(call, follower.job.id).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Failure) return false;
      throw error;
    },
  );
};

/** Reads the next chunk; null if there is none yet. Once the job has ended, an incomplete character is sent too. */
const readNextChunk = async ({
  call,
  job,
  offset,
}: Follower): Promise<{ text: string; length: number } | null> => {
  const size = (await getTraceSize(call, job)) ?? 0;
  if (size <= offset) return null;
  const end = Math.min(size, offset + chunkSize) - 1;
  const stream = await readTrace(call.platform, job, { start: offset, end });
  if (stream === null) return null;
  const bytes = await buffer(stream);
  const isLast = hasEnded(job) && offset + bytes.length === size;
  const length = isLast ? bytes.length : countWholeCharacters(bytes);
  return length === 0 ? null : { text: bytes.toString('utf8', 0, length), length };
};

/** Creates a wakeup signal. A signal without a waiter is remembered. */
const makeWakeup = (signal: AbortSignal) => {
  let wake: (() => void) | null = null;
  let isSignalled = false;
  const signalWakeup = (): void => {
    isSignalled = true;
    wake?.();
  };
  signal.addEventListener('abort', signalWakeup);
  /** @returns whether it was signalled before the timeout */
  const wait = async (milliseconds: number): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    if (isSignalled) resolve();
    const timer = setTimeout(resolve, milliseconds);
    await promise;
    clearTimeout(timer);
    const wasSignalled = isSignalled;
    isSignalled = false;
    return wasSignalled;
  };
  return { ring: signalWakeup, wait };
};

/** Yields all chunks that exist now. */
const readChunks = async function* readChunks(follower: Follower): AsyncGenerator<string> {
  for (;;) {
    const next = await readNextChunk(follower);
    if (next === null || follower.signal.aborted || !(await checkAccess(follower))) return;
    const { offset } = follower;
    follower.offset += next.length;
    yield event('log', { offset, text: next.text }, follower.offset);
  }
};

const events = async function* events(follower: Follower): AsyncGenerator<string> {
  const { call, signal } = follower;
  const { traces } = call.platform;
  const wakeup = makeWakeup(signal);
  let isGone = false;
  const ends = [
    traces.watch(follower.job, wakeup.ring),
    watchJob(call.platform, follower.job.id, (job) => {
      isGone = job === null;
      if (job === null || job.status !== follower.job.status) wakeup.ring();
      if (job !== null) follower.job = job;
    }),
  ];
  let lastStatus = '';
  try {
    while (!signal.aborted && !isGone && (await checkAccess(follower))) {
      const { job } = follower;
      const status = shownStatus(job.status);
      if (status !== lastStatus) yield event('status', { status });
      lastStatus = status;
      yield* readChunks(follower);
      if (hasEnded(job)) {
        yield event('done', { status });
        return;
      }
      if (!(await wakeup.wait(keepaliveInterval))) yield ': \n\n';
    }
  } finally {
    for (const end of ends) end();
  }
};

/** Parses the byte offset at which a client resumes. */
const parseOffset = (text: string | undefined): number =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : 0;

/** @throws Failure 503 if too many streams are open */
export const followTrace = (call: Call, job: JobRow, from: string | undefined): Answer => {
  const headers = {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    // Proxies would buffer the events.
    'x-accel-buffering': 'no',
  };
  if (call.incoming.method === 'HEAD') return new Answer(Readable.from([]), { headers });
  const { signal, end } = openEventStream(
    call.platform,
    { user_id: requireUser(call).id, address: call.ip },
    maxStreamMilliseconds,
  );
  const offset = parseOffset(call.header('last-event-id') ?? from);
  const body = Readable.from(events({ call, job, offset, signal, checked_at: call.now }), {
    objectMode: false,
  });
  return new Answer(body, { headers, onSent: end });
};
