/** A bucket of a store that speaks S3: requests, signed, and tried again where that may help. */
import { setTimeout as pass } from 'node:timers/promises';
import { AwsClient } from 'aws4fetch';
import type { S3Place } from '../config_blobs.ts';
import { unavailable } from '../errors.ts';

type Log = (details: object, message: string) => void;

export type Asked = {
  method?: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Without one, the bucket itself is asked. Ours need no escapes. */
  key?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Buffer<ArrayBuffer>;
};

export type Bucket = {
  name: string;
  /**
   * What the store answers; null: there is no such thing.
   * @throws Failure 503 where the store is away or refuses us
   */
  find: (asked: Asked) => Promise<Response | null>;
  /** As `find`, of what has to be there; the text of the answer. */
  ask: (asked: Asked) => Promise<{ text: string; headers: Headers }>;
  /** Where whoever has it may read these bytes for a while; null: nobody but us reaches the store. */
  link: (key: string, query: Record<string, string>) => Promise<string | null>;
};

const tries = 4;
/** Milliseconds before the second try; then twice as many, each time. */
const firstPause = 100;
/** Milliseconds after which it is not tried again, and those that one try has until its answer begins. */
const patience = { all: 15_000, one: 60_000 };
/** Characters of an answer that is text: a list of a thousand keys has fewer. */
const longestText = 4 * 1024 * 1024;
/** Seconds for which a link is good: as long as it takes to follow it. */
const linkLife = 600;

const isPassing = (status: number): boolean => status >= 500 || status === 429 || status === 408;

const digestOf = async (body: Buffer<ArrayBuffer>): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', body)).toString('hex');

const textOf = async ({ body }: Response): Promise<string> => {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > longestText) throw new Error('the store answers without end');
  }
  return text;
};

const codeOf = (text: string): string | undefined => /<Code>([^<]*)<\/Code>/.exec(text)?.[1];

const causeOf = (error: unknown): string => {
  const { cause, message } = error as { cause?: { code?: unknown; message?: unknown }; message?: unknown };
  return String(cause?.code ?? cause?.message ?? message);
};

/** Tries until a result is the last word, or patience is at its end. */
const trying = async <T>(once: () => Promise<T>, isLast: (result: T) => boolean): Promise<T> => {
  const end = performance.now() + patience.all;
  for (let pause = firstPause, left = tries - 1; ; pause *= 2, left -= 1) {
    const isOver = left === 0 || performance.now() > end;
    try {
      // oxlint-disable-next-line no-await-in-loop -- one try after another
      const result = await once();
      if (isOver || isLast(result)) return result;
    } catch (error) {
      if (isOver) throw error;
    }
    // So that those who failed together do not come again together.
    // oxlint-disable-next-line no-await-in-loop -- the pause between them
    await pass(pause / 2 + (Math.random() * pause) / 2);
  }
};

const makeSender = (place: S3Place) => {
  const { bucket, region, access_key: accessKeyId, secret_key: secretAccessKey } = place;
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3' });
  const urlOf = (endpoint: string, { key, query = {} }: Asked): URL => {
    const url = new URL(`${endpoint}/${bucket}${key === undefined ? '' : `/${key}`}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  };
  const send = async (asked: Asked, digest: string): Promise<Response> => {
    const { method = 'GET', headers = {}, body = null } = asked;
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(new Error('no answer in time')), patience.one);
    try {
      const request = await client.sign(urlOf(place.endpoint, asked), {
        method,
        headers: { ...headers, 'x-amz-content-sha256': digest },
        body,
        // Another place would need another signature.
        redirect: 'manual',
        signal: ending.signal,
      });
      return await fetch(request);
    } finally {
      clearTimeout(timer);
    }
  };
  const link = async (key: string, query: Record<string, string>): Promise<string | null> => {
    if (place.public_endpoint === null) return null;
    const life = { 'X-Amz-Expires': String(linkLife) };
    const url = urlOf(place.public_endpoint, { key, query: { ...query, ...life } });
    const { url: signed } = await client.sign(url, { method: 'GET', aws: { signQuery: true } });
    // Not every store takes a plus for the blank that was signed.
    return signed.replaceAll('+', '%20');
  };
  return { send, link };
};

export const openBucket = (place: S3Place, log: Log): Bucket => {
  const { send, link } = makeSender(place);
  const refuse = (asked: Asked, why: object): Error => {
    log({ method: asked.method ?? 'GET', key: asked.key, ...why }, 'the store of bytes refused a request');
    return unavailable();
  };
  const sent = async (asked: Asked): Promise<Response> => {
    const digest = asked.body === undefined ? 'UNSIGNED-PAYLOAD' : await digestOf(asked.body);
    const once = async (): Promise<Response> => await send(asked, digest);
    try {
      return await trying(once, ({ status, body }) => {
        if (!isPassing(status)) return true;
        void body?.cancel();
        return false;
      });
    } catch (error) {
      throw refuse(asked, { cause: causeOf(error) });
    }
  };
  const find = async (asked: Asked): Promise<Response | null> => {
    const response = await sent(asked);
    if (response.ok) return response;
    const code = codeOf(response.bodyUsed ? '' : await textOf(response).catch(() => ''));
    if (response.status === 404 && code !== 'NoSuchBucket') return null;
    throw refuse(asked, { status: response.status, code });
  };
  const ask: Bucket['ask'] = async (asked) => {
    const response = await find(asked);
    if (response === null) throw refuse(asked, { status: 404 });
    try {
      const text = await textOf(response);
      // What takes long may fail after the answer has begun.
      if (text.includes('<Error>')) throw new Error(codeOf(text) ?? 'failed');
      return { text, headers: response.headers };
    } catch (error) {
      throw refuse(asked, { cause: causeOf(error) });
    }
  };
  return { name: place.bucket, find, ask, link };
};
