/**
 * Sends one request of a hook. The host is resolved once, every address is checked, and the connection goes to a
 * checked address; an open connection is used again only where the same addresses were checked. Redirects are not
 * followed.
 */
import { lookup as lookUpHost } from 'node:dns/promises';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { isIP } from 'node:net';
import { currentMeter, observed } from '../../platform/db/statement_meter.ts';
import { formatTraceparent } from '../../platform/tracing/trace_context.ts';
import { isListed, isPublicAddress, toBareHost } from './allowed_addresses.ts';
import type { Pinned } from './connections.ts';

type Address = { address: string; family: number };

export type Rules = {
  /** Requests may go anywhere. */
  isLocalAllowed: boolean;
  /** Names, addresses and subnets that requests may reach in any case. */
  allowedHosts: readonly string[];
};

export type OutgoingRequest = {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Whether the certificate of the receiver is verified. */
  verifiesCertificate: boolean;
};

export type Outcome = {
  /** null: no response. */
  status: number | null;
  headers: Record<string, string>;
  /** Start of the response body. */
  body: string;
  /** Why there was no complete response; null: there was. */
  error: string | null;
};

export type Lookup = (host: string) => Promise<Address[]>;

/** Limits of a request: milliseconds in all, bytes of the response that are read, and those that are kept. */
export type Limits = { milliseconds: number; maxBytes: number; keptBytes: number };

const usualLimits: Limits = { milliseconds: 10_000, maxBytes: 1_048_576, keptBytes: 8_192 };

const usualLookup: Lookup = async (host) => await lookUpHost(host, { all: true, verbatim: true });

class Refusal extends Error {}

const resolve = async (host: string, lookup: Lookup): Promise<Address[]> => {
  const family = isIP(host);
  return family === 0 ? await lookup(host) : [{ address: host, family }];
};

/** Returns the addresses of a URL's host. @throws Refusal if any of them must not be reached */
const resolveChecked = async (url: URL, rules: Rules, lookup: Lookup): Promise<Address[]> => {
  const host = toBareHost(url.hostname);
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  const addresses = await resolve(host, lookup);
  if (addresses.length === 0) throw new Refusal('the host has no address');
  const isAllowed = ({ address }: Address): boolean =>
    rules.isLocalAllowed || isPublicAddress(address) || isListed(rules.allowedHosts, { host, port, address });
  if (!addresses.every(isAllowed)) throw new Refusal('requests to the local network are not allowed');
  return addresses;
};

/** A lookup for the connection that answers only these addresses. */
const pinned = (addresses: Address[]): NonNullable<RequestOptions['lookup']> => {
  return (_host, options, callback) => {
    const [first] = addresses;
    if (options.all === true) (callback as (error: null, all: Address[]) => void)(null, addresses);
    else callback(null, first?.address ?? '', first?.family ?? 4);
  };
};

const flatten = (headers: IncomingMessage['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : String(value),
    ]),
  );

/** Reads the response up to the limit, then drops the connection. */
const readBody = async (response: IncomingMessage, { maxBytes, keptBytes }: Limits): Promise<string> => {
  let [bytes, kept] = [0, 0];
  const parts: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (kept < keptBytes) parts.push(chunk.subarray(0, keptBytes - kept));
    kept = Math.min(keptBytes, kept + chunk.length);
    bytes += chunk.length;
    if (bytes > maxBytes) break; // destroys the response
  }
  return Buffer.concat(parts).toString('utf8').replaceAll('\0', '');
};

/** Lets the receiver's spans join the trace of what sends. */
const getTraceHeaders = (): Record<string, string> => {
  const trace = currentMeter()?.trace ?? null;
  return trace === null ? {} : { traceparent: formatTraceparent(trace) };
};

/** @param isFresh whether the request has a connection of its own */
const openRequest = async (
  url: URL,
  { headers, body, verifiesCertificate }: OutgoingRequest,
  addresses: Address[],
  isFresh: boolean,
): Promise<ClientRequest> => {
  const isSecure = url.protocol === 'https:';
  // Few services have hooks: loaded at first use.
  const [{ request }, { agent, secureAgent }] = await Promise.all([
    isSecure ? import('node:https') : import('node:http'),
    import('./connections.ts'),
  ]);
  const options: RequestOptions & Pinned & { rejectUnauthorized?: boolean } = {
    method: 'POST',
    agent: isFresh ? false : isSecure ? secureAgent : agent,
    checkedAddresses: addresses.map(({ address }) => address).join(),
    lookup: pinned(addresses),
    headers: { ...headers, ...getTraceHeaders(), 'content-length': String(Buffer.byteLength(body)) },
    ...(isSecure && { rejectUnauthorized: verifiesCertificate }),
  };
  return request(url, options);
};

const responseTo = async (request: ClientRequest, body: string): Promise<IncomingMessage> =>
  await new Promise((fulfil, reject) => {
    request.on('response', fulfil).on('error', reject);
    request.end(body);
  });

/** Reads response and body; destroys the request unless the response is complete. */
const exchange = async (request: ClientRequest, body: string, limits: Limits): Promise<Outcome> => {
  let outcome: Outcome = { status: null, headers: {}, body: '', error: null };
  let isComplete = false;
  try {
    const response = await responseTo(request, body);
    outcome = { ...outcome, status: response.statusCode ?? null, headers: flatten(response.headers) };
    const text = await readBody(response, limits);
    isComplete = response.readableEnded;
    return { ...outcome, body: text };
  } catch (error) {
    return { ...outcome, error: describeError(error) };
  } finally {
    request.on('error', () => undefined);
    if (!isComplete) request.destroy();
  }
};

/** Tells whether the receiver closed an idle connection at the moment it was used again. */
const isStale = (request: ClientRequest, { status, error }: Outcome): boolean =>
  request.reusedSocket && status === null && (error === 'ECONNRESET' || error === 'EPIPE');

/** Sends over a connection that is open already, or over a new one. */
const exchangeReusing = async (
  open: (isFresh: boolean) => Promise<ClientRequest>,
  body: string,
  limits: Limits,
): Promise<Outcome> => {
  const request = await open(false);
  const outcome = await exchange(request, body, limits);
  return isStale(request, outcome) ? await exchange(await open(true), body, limits) : outcome;
};

const describeError = (error: unknown): string => {
  if (error instanceof Refusal) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  return (code ?? message ?? 'failed').slice(0, 200);
};

const failed = (error: string): Outcome => ({ status: null, headers: {}, body: '', error });

/** Sends a request. Never throws: failures are outcomes. */
export const sendRequest = async (
  outgoing: OutgoingRequest,
  rules: Rules,
  { lookup = usualLookup, limits = usualLimits }: { lookup?: Lookup; limits?: Limits } = {},
): Promise<Outcome> => {
  const url = URL.parse(outgoing.url);
  if (url === null || !/^https?:$/.test(url.protocol)) return failed('the URL is invalid');
  let request: ClientRequest | null = null;
  const late = Promise.withResolvers<Outcome>();
  const timer = setTimeout(() => {
    late.resolve(failed('timeout'));
    request?.destroy(new Error('timeout'));
  }, limits.milliseconds);
  const work = async (): Promise<Outcome> => {
    const addresses = await resolveChecked(url, rules, lookup);
    const open = async (isFresh: boolean): Promise<ClientRequest> =>
      (request = await openRequest(url, outgoing, addresses, isFresh));
    return await observed(
      { kind: 'http', name: url.hostname },
      async () => await exchangeReusing(open, outgoing.body, limits),
    );
  };
  try {
    return await Promise.race([work().catch((error: unknown) => failed(describeError(error))), late.promise]);
  } finally {
    clearTimeout(timer);
  }
};
