/** Sends a request as it is, unlike `fetch`: invalid headers and paths, and no waiting for the answer's content. */
import { Agent, request } from 'node:http';
import type { Sendable } from './requests.ts';

export type Sent = Omit<Sendable, 'body'> & {
  body?: string | Buffer;
  headers?: Record<string, string | string[]>;
  /** Called with the status. */
  onStatus?: (status: number) => void;
};

export type Send = (sent: Sent, own?: Record<string, string>) => Promise<number>;

/** Milliseconds after which a stream of events, or what waits for more of a body, is given up. */
const responseTimeout = 60_000;

/** The status is 0 where the connection was ended, even within an answer. */
export const makeSender = (base: string): { send: Send; close: () => void } => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { hostname, port } = new URL(base);
  const send: Send = async ({ method, url, body, type, headers, onStatus }, own = {}) => {
    const status = await new Promise<number>((resolve) => {
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
      const all = { ...own, ...length, ...(type !== undefined && { 'content-type': type }), ...headers };
      try {
        const sent = request({ hostname, port, path: url, method, headers: all, agent }, (response) => {
          response.resume().on('error', () => resolve(0));
          response.on('close', () => resolve(response.complete ? (response.statusCode ?? 0) : 0));
        });
        sent.on('error', () => resolve(0)).setTimeout(responseTimeout, () => sent.destroy());
        sent.end(body);
      } catch {
        // The client does not send such a header or path.
        resolve(0);
      }
    });
    onStatus?.(status);
    return status;
  };
  return { send, close: () => agent.destroy() };
};
