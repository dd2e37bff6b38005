/**
 * A trace as it grows, by server-sent events: `log` (its text; the event's id is the byte from which to go on),
 * `status`, and `done` once the job has ended and all is sent.
 */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type Call, userOf } from '../access/call.ts';
import { callNow } from '../access/still.ts';
import { Failure } from '../errors.ts';
import { Answer } from '../http/endpoint.ts';
import type { JobRow } from '../jobs/rows.ts';
import { shownStatus } from '../repository/pipeline_brief.ts';
import { findAnyJob } from './find_any_job.ts';
import { openStream } from './open_streams.ts';
import { watchJob } from './statuses.ts';
import { readTrace, traceSize } from './trace_answer.ts';

/** Bytes that one event brings. */
const piece = 64 * 1024;
/** Milliseconds after which something is said, so that nobody takes the line for dead. */
const silence = 15_000;
/** Milliseconds after which a client comes again. */
const longest = 600_000;
/** Milliseconds for which nobody asks again whether he may read on. */
const trusted = 2_000;
/** How many of the bytes are whole characters; what is no UTF-8 counts as whole. */
const wholeCharacters = (bytes: Buffer): number => {
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
  /** When it was last asked whether he may read it. */
  asked_at: number;
};

/** Nothing is sent to who has lost his right: his token, his place in the project, or the project its openness. */
const mayGoOn = async (follower: Follower): Promise<boolean> => {
  const now = follower.call.platform.clock.now();
  if (now - follower.asked_at < trusted) return true;
  follower.asked_at = now;
  const call = await callNow(follower.call);
  if (call === null) return false;
  follower.call = call;
  return await findAnyJob(call, follower.job.id).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Failure) return false;
      throw error;
    },
  );
};

/** The next piece; null: there is none yet. Once the job has ended, half a character is sent, too. */
const nextPiece = async ({
  call,
  job,
  offset,
}: Follower): Promise<{ text: string; length: number } | null> => {
  const size = (await traceSize(call, job)) ?? 0;
  if (size <= offset) return null;
  const end = Math.min(size, offset + piece) - 1;
  const stream = await readTrace(call.platform, job, { start: offset, end });
  if (stream === null) return null;
  const bytes = await buffer(stream);
  const isLast = hasEnded(job) && offset + bytes.length === size;
  const length = isLast ? bytes.length : wholeCharacters(bytes);
  return length === 0 ? null : { text: bytes.toString('utf8', 0, length), length };
};

/** Rings when something may be new; a ring while nobody waits is not lost. */
const makeBell = (signal: AbortSignal) => {
  let wake: (() => void) | null = null;
  let isRung = false;
  const ring = (): void => {
    isRung = true;
    wake?.();
  };
  signal.addEventListener('abort', ring);
  /** @returns whether it rang */
  const wait = async (milliseconds: number): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    if (isRung) resolve();
    const timer = setTimeout(resolve, milliseconds);
    await promise;
    clearTimeout(timer);
    const rang = isRung;
    isRung = false;
    return rang;
  };
  return { ring, wait };
};

/** All pieces that there are. */
const pieces = async function* pieces(follower: Follower): AsyncGenerator<string> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one piece after another, as fast as they are taken
    const next = await nextPiece(follower);
    // oxlint-disable-next-line no-await-in-loop
    if (next === null || follower.signal.aborted || !(await mayGoOn(follower))) return;
    const { offset } = follower;
    follower.offset += next.length;
    yield event('log', { offset, text: next.text }, follower.offset);
  }
};

const events = async function* events(follower: Follower): AsyncGenerator<string> {
  const { call, signal } = follower;
  const { traces } = call.platform;
  const bell = makeBell(signal);
  let isGone = false;
  const ends = [
    traces.watch(follower.job, bell.ring),
    watchJob(call.platform, follower.job.id, (job) => {
      isGone = job === null;
      if (job === null || job.status !== follower.job.status) bell.ring();
      if (job !== null) follower.job = job;
    }),
  ];
  let told = '';
  try {
    // oxlint-disable-next-line no-await-in-loop -- before each look
    while (!signal.aborted && !isGone && (await mayGoOn(follower))) {
      const { job } = follower;
      const status = shownStatus(job.status);
      if (status !== told) yield event('status', { status });
      told = status;
      yield* pieces(follower);
      if (hasEnded(job)) {
        yield event('done', { status });
        return;
      }
      // oxlint-disable-next-line no-await-in-loop -- until something is new
      if (!(await bell.wait(silence))) yield ': \n\n';
    }
  } finally {
    for (const end of ends) end();
  }
};

/** From where a client goes on. */
const offsetOf = (text: string | undefined): number =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : 0;

/** @throws Failure 503 where too many are open */
export const followTrace = (call: Call, job: JobRow, from: string | undefined): Answer => {
  const headers = {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    // Proxies would wait for more.
    'x-accel-buffering': 'no',
  };
  if (call.incoming.method === 'HEAD') return new Answer(Readable.from([]), { headers });
  const { signal, end } = openStream(call.platform, userOf(call).id, longest);
  const offset = offsetOf(call.header('last-event-id') ?? from);
  const body = Readable.from(events({ call, job, offset, signal, asked_at: call.now }), {
    objectMode: false,
  });
  return new Answer(body, { headers, onSent: end });
};
