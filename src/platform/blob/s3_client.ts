/** S3 client: signed requests with retries. */
import { setTimeout as pass } from 'node:timers/promises';
import { AwsClient } from 'aws4fetch';
import type { S3Location } from '../config/blobs.ts';
import { observed } from '../db/statement_meter.ts';
import { unavailable } from '../errors.ts';

export type Log = (details: object, message: string) => void;

export type BucketRequest = {
  method?: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Object key; absent for a request to the bucket itself. Our keys need no escaping. */
  key?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Buffer<ArrayBuffer>;
};

export type Bucket = {
  name: string;
  /**
   * Sends a request; null if the object does not exist.
   * @throws Failure 503 if the store is unreachable or denies access
   */
  find: (request: BucketRequest) => Promise<Response | null>;
  /** Returns false if the bucket does not exist. @throws Failure 503 as `find` */
  exists: () => Promise<boolean>;
  /** Like `find`, for objects that must exist. Returns the text of the response. */
  ask: (request: BucketRequest) => Promise<{ text: string; headers: Headers }>;
  /** Returns a presigned link to an object; null if clients cannot reach the store. */
  link: (key: string, query: Record<string, string>) => Promise<string | null>;
};

const tries = 4;
/** Milliseconds before the first retry; doubles with each retry. */
const firstPause = 100;
/** Milliseconds: for all attempts together, and for one attempt until its response begins. */
const timeouts = { all: 15_000, one: 60_000 };
/** Maximum characters of a text response. A list of a thousand keys is shorter. */
const maxTextLength = 4 * 1024 * 1024;
/** Lifetime of a link in seconds: enough to follow it. */
const linkLifetime = 600;

const isTransient = (status: number): boolean => status >= 500 || status === 429 || status === 408;

const hashBody = async (body: Buffer<ArrayBuffer>): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', body)).toString('hex');

const readText = async ({ body }: Response): Promise<string> => {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxTextLength) throw new Error('the response of the store is too long');
  }
  return text;
};

const parseErrorCode = (text: string): string | undefined => /<Code>([^<]*)<\/Code>/.exec(text)?.[1];

const describeError = (error: unknown): string => {
  const { cause, message } = error as { cause?: { code?: unknown; message?: unknown }; message?: unknown };
  return String(cause?.code ?? cause?.message ?? message);
};

/** Retries until a result is final or time runs out. */
const withRetries = async <T>(once: () => Promise<T>, isLast: (result: T) => boolean): Promise<T> => {
  const end = performance.now() + timeouts.all;
  for (let pause = firstPause, left = tries - 1; ; pause *= 2, left -= 1) {
    const isOver = left === 0 || performance.now() > end;
    try {
      const result = await once();
      if (isOver || isLast(result)) return result;
    } catch (error) {
      if (isOver) throw error;
    }
    // Add jitter, so that clients that failed together do not retry together.
    await pass(pause / 2 + (Math.random() * pause) / 2);
  }
};

const makeSender = (location: S3Location) => {
  const { bucket, region, access_key: accessKeyId, secret_key: secretAccessKey } = location;
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3' });
  const buildUrl = (endpoint: string, { key, query = {} }: BucketRequest): URL => {
    const url = new URL(`${endpoint}/${bucket}${key === undefined ? '' : `/${key}`}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  };
  const send = async (input: BucketRequest, digest: string): Promise<Response> => {
    const { method = 'GET', headers = {}, body = null } = input;
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(new Error('no answer in time')), timeouts.one);
    try {
      const request = await client.sign(buildUrl(location.endpoint, input), {
        method,
        headers: { ...headers, 'x-amz-content-sha256': digest },
        body,
        // A redirect would need another signature.
        redirect: 'manual',
        signal: ending.signal,
      });
      return await fetch(request);
    } finally {
      clearTimeout(timer);
    }
  };
  const link = async (key: string, query: Record<string, string>): Promise<string | null> => {
    if (location.public_endpoint === null) return null;
    const life = { 'X-Amz-Expires': String(linkLifetime) };
    const url = buildUrl(location.public_endpoint, { key, query: { ...query, ...life } });
    const { url: signed } = await client.sign(url, { method: 'GET', aws: { signQuery: true } });
    // Some stores do not accept a plus for the space that was signed.
    return signed.replaceAll('+', '%20');
  };
  return { send, link };
};

export const openBucket = (location: S3Location, log: Log): Bucket => {
  const { send, link } = makeSender(location);
  const { host } = new URL(location.endpoint);
  const refuse = (request: BucketRequest, why: object): Error => {
    log(
      { method: request.method ?? 'GET', key: request.key, ...why },
      'the store of bytes refused a request',
    );
    return unavailable();
  };
  const sent = async (request: BucketRequest): Promise<Response> => {
    const digest = request.body === undefined ? 'UNSIGNED-PAYLOAD' : await hashBody(request.body);
    const once = async (): Promise<Response> =>
      await observed({ kind: 'http', name: host }, async () => await send(request, digest));
    try {
      return await withRetries(once, ({ status, body }) => {
        if (!isTransient(status)) return true;
        void body?.cancel();
        return false;
      });
    } catch (error) {
      throw refuse(request, { cause: describeError(error) });
    }
  };
  const find = async (request: BucketRequest): Promise<Response | null> => {
    const response = await sent(request);
    if (response.ok) return response;
    const code = parseErrorCode(response.bodyUsed ? '' : await readText(response).catch(() => ''));
    if (response.status === 404 && code !== 'NoSuchBucket') return null;
    throw refuse(request, { status: response.status, code });
  };
  const exists: Bucket['exists'] = async () => {
    const request = { method: 'HEAD' } as const;
    const { ok, status } = await sent(request);
    // Keys that may not list the bucket get 403.
    if (ok || status === 403 || status === 404) return status !== 404;
    throw refuse(request, { status });
  };
  const ask: Bucket['ask'] = async (request) => {
    const response = await find(request);
    if (response === null) throw refuse(request, { status: 404 });
    try {
      const text = await readText(response);
      // S3 may report an error of a long operation in the body, after status 200.
      if (text.includes('<Error>')) throw new Error(parseErrorCode(text) ?? 'failed');
      return { text, headers: response.headers };
    } catch (error) {
      throw refuse(request, { cause: describeError(error) });
    }
  };
  return { name: location.bucket, exists, find, ask, link };
};
