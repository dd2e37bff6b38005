/** Sends the requests of tests, over kept connections: `fetch` takes three times the processor time. */
import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

export type Sent = { method?: string; headers?: Record<string, string>; body?: string | Buffer };
export type Received = { status: number; headers: Headers; text: string };

const agent = new Agent({ keepAlive: true });

/** What clients send if they are told nothing else. */
const usual = { accept: '*/*', 'user-agent': 'node' };

const lowerNames = (headers: Record<string, string>): OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const lengthOf = (method: string, body: string | Buffer | undefined): OutgoingHttpHeaders =>
  body === undefined && ['GET', 'HEAD', 'DELETE', 'OPTIONS'].includes(method)
    ? {}
    : { 'content-length': Buffer.byteLength(body ?? '') };

const decode = (bytes: Buffer, encoding: string | null): string => {
  const plain =
    encoding === 'gzip' ? gunzipSync(bytes) : encoding === 'br' ? brotliDecompressSync(bytes) : bytes;
  return new TextDecoder().decode(plain);
};

const receive = async (response: IncomingMessage): Promise<Received> => {
  const headers = new Headers();
  const { rawHeaders } = response;
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const text = bytes.length === 0 ? '' : decode(bytes, headers.get('content-encoding'));
  return { status: response.statusCode ?? 0, headers, text };
};

/** Sends a request, and follows no redirect. */
export const sendRequest = async (
  url: string,
  { method = 'GET', headers = {}, body }: Sent = {},
): Promise<Received> =>
  await new Promise((resolve, reject) => {
    const all = { ...usual, ...lowerNames(headers), ...lengthOf(method, body) };
    const sent = request(url, { method, agent, headers: all }, (response) => {
      receive(response).then(resolve, reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
