/** A receiver of webhooks: keeps what it is sent, and answers as the test says. */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Received = {
  path: string;
  headers: Record<string, string>;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
  body: any;
};

export type HookReceiver = {
  url: string;
  received: Received[];
  /** How requests are answered; default: 200. */
  answer: (handle: (request: Received, response: ServerResponse) => void) => void;
  clear: () => void;
  close: () => Promise<void>;
};

const readText = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts).toString();
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const ok = (_request: Received, response: ServerResponse): void => void response.end('thanks');

export const startHookReceiver = async (): Promise<HookReceiver> => {
  const received: Received[] = [];
  let handle = ok;
  const server = createServer((request, response) => {
    void (async () => {
      const text = await readText(request);
      const one = {
        path: request.url ?? '',
        headers: request.headers as Record<string, string>,
        text,
        body: parse(text),
      };
      received.push(one);
      handle(one, response);
    })();
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    answer: (next) => void (handle = next),
    clear: () => {
      received.length = 0;
      handle = ok;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
};
