/** Sends many requests over few connections, with exact control of the bytes, and returns the raw responses. */
import { Agent, request } from 'node:http';

export type Sent = {
  method: string;
  /** With the query; relative to the service, not to `/api/v4`. */
  path: string;
  headers?: Record<string, string>;
  /** A text is sent unchanged; an object becomes JSON. */
  body?: string | object | undefined;
};

export type Received = {
  status: number;
  headers: Record<string, string>;
  /** Names and values as received, in order. */
  rawHeaders: [name: string, value: string][];
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
  body: any;
};

export type Wire = { send: (sent: Sent) => Promise<Received>; close: () => void };

/** Concurrency of reads, limited by the processor, and of writes, which share the wait for the disk. */
export const readsAtOnce = 16;
export const writesAtOnce = 64;

const pairsOf = (raw: string[]): [string, string][] =>
  Array.from({ length: raw.length / 2 }, (_none, at) => [raw[at * 2] ?? '', raw[at * 2 + 1] ?? '']);

const parsed = (type: string | undefined, text: string): unknown =>
  type === 'application/json' && text !== '' ? (JSON.parse(text) as unknown) : undefined;

export const openWire = (url: string): Wire => {
  const agent = new Agent({ keepAlive: true, maxSockets: writesAtOnce });
  const { hostname, port } = new URL(url);
  const send = async ({ method, path, headers = {}, body }: Sent): Promise<Received> =>
    await new Promise((resolve, reject) => {
      const text = typeof body === 'object' ? JSON.stringify(body) : body;
      const type = typeof body === 'object' ? 'application/json' : 'application/x-www-form-urlencoded';
      const own =
        text === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(text) };
      // As options: a URL would be normalized before it is sent.
      const sent = request(
        { hostname, port, path, method, headers: { ...own, ...headers }, agent },
        (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('error', reject);
          response.on('end', () => {
            const whole = Buffer.concat(parts).toString('utf8');
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers as Record<string, string>,
              rawHeaders: pairsOf(response.rawHeaders),
              text: whole,
              body: parsed(response.headers['content-type'], whole),
            });
          });
        },
      );
      sent.on('error', reject);
      sent.end(text);
    });
  return { send, close: () => agent.destroy() };
};

/** Runs the work for each, many at once; returns results in order. */
export const forEachAtOnce = async <T>(
  all: readonly T[],
  work: (one: T) => Promise<void>,
  atOnce = readsAtOnce,
): Promise<void> => {
  let next = 0;
  const run = async (): Promise<void> => {
    while (next < all.length) {
      const one = all[next] as T;
      next += 1;
      await work(one);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, run));
};

/** Fails with all of the lines, the first of them in full. */
export const failWith = (lines: string[], of: number): void => {
  if (lines.length === 0) return;
  const most = 80;
  const more = lines.length > most ? [`... and ${lines.length - most} more`] : [];
  const error = new Error(`${lines.length} of ${of}:\n${[...lines.slice(0, most), ...more].join('\n')}`);
  error.stack = error.message;
  throw error;
};
