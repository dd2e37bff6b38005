/**
 * Sends requests to one coordinator: keeps connections alive, streams bodies both ways, retries temporary failures.
 */
import {
  Agent as PlainAgent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as plain,
} from 'node:http';
import { Agent as SecureAgent, request as secure } from 'node:https';
import type { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

export type Call = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** Path below `/api/v4`. */
  path: string;
  headers?: Record<string, string>;
  /** The body; a function streams it. */
  body?: Buffer | string | ((out: Writable) => Promise<void>);
  /** Seconds without a byte before the request fails; default: 60. */
  silence?: number;
  signal?: AbortSignal | undefined;
  /** Receives the body of a 200 instead of `Reply.body`. */
  into?: (body: IncomingMessage) => Promise<void>;
};

export type Reply = { status: number; headers: IncomingHttpHeaders; body: Buffer };

export type Send = (call: Call) => Promise<Reply>;

/** Maximum bytes of an answer held in memory. */
const maxBodyBytes = 16 * 2 ** 20;

const collect = async (message: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
};

const readReply = async (message: IncomingMessage, { into }: Call): Promise<Reply> => {
  const { statusCode: status = 0, headers } = message;
  if (into === undefined || status !== 200) return { status, headers, body: await collect(message) };
  await into(message);
  return { status, headers, body: Buffer.alloc(0) };
};

/**
 * Makes a sender.
 * @param url of the coordinator; a path in it is kept
 */
export const makeSend = (url: string): { send: Send; close: () => void } => {
  const base = new URL(url);
  const isSecure = base.protocol === 'https:';
  const agent = new (isSecure ? SecureAgent : PlainAgent)({ keepAlive: true });
  const prefix = `${base.pathname.replace(/\/+$/, '')}/api/v4`;
  const send: Send = async (call) => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const { method, headers = {}, body, signal, silence = 60 } = call;
    const fixed = typeof body === 'string' || Buffer.isBuffer(body) ? body : null;
    const request = (isSecure ? secure : plain)({
      host: base.hostname.replaceAll(/[[\]]/g, ''),
      port: base.port === '' ? (isSecure ? 443 : 80) : Number(base.port),
      path: prefix + call.path,
      method,
      agent,
      ...(signal !== undefined && { signal }),
      headers: { ...headers, ...(fixed !== null && { 'content-length': Buffer.byteLength(fixed) }) },
    });
    request.on('response', resolve);
    request.on('error', reject); // ignored once an answer has come
    request.setTimeout(silence * 1000, () => request.destroy(new Error('the coordinator does not respond')));
    if (typeof body === 'function') body(request).catch((error: unknown) => request.destroy(error as Error));
    else request.end(fixed ?? undefined);
    try {
      return await readReply(await promise, call);
    } finally {
      // After an early answer the rest of the body is not sent.
      if (!request.writableFinished) request.destroy();
    }
  };
  return { send, close: () => agent.destroy() };
};

/** Returns whether a request with this status should be retried. */
export const isPassing = (status: number): boolean =>
  [408, 429, 500, 502, 503, 504].includes(status) || status >= 512;

/** Milliseconds. */
const backoff = { first: 100, max: 5_000 };

export type Persistence = {
  /** Milliseconds after which retries stop. */
  timeout: number;
  signal?: AbortSignal | undefined;
};

/** Retries temporary failures; returns the last reply of any status. @throws the error of the last attempt */
export const persist = async (
  work: () => Promise<Reply>,
  { timeout, signal }: Persistence,
): Promise<Reply> => {
  const until = performance.now() + timeout;
  for (let pause = backoff.first; ; pause = Math.min(pause * 2, backoff.max)) {
    const isLast = performance.now() + pause > until;
    let requests = 0;
    try {
      const reply = await work();
      if (isLast || !isPassing(reply.status)) return reply;
      requests = Math.min(Number(reply.headers['retry-after'] ?? 0) || 0, 60) * 1000;
    } catch (error) {
      if (isLast || signal?.aborted === true) throw error;
    }
    await wait(Math.max(pause, requests), undefined, { signal });
  }
};
