/** Sends one request to a checked address. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Lookup } from '../../platform/addresses/cached_lookup.ts';
import {
  AddressRefusal,
  type AddressRules,
  getResponse,
  openCheckedRequest,
} from '../../platform/addresses/checked_request.ts';
import { currentMeter, observed } from '../../platform/db/statement_meter.ts';
import { formatTraceparent } from '../../platform/tracing/trace_context.ts';

export type OutgoingRequest = {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Default: POST. */
  method?: 'GET';
  /** True to verify the receiver's certificate. */
  verifiesCertificate: boolean;
};

export type Outcome = {
  /** null: no response. */
  status: number | null;
  headers: Record<string, string>;
  /** Start of the response body. */
  body: string;
  /** Why the response did not arrive or broke off; null if it arrived whole, or was cut at the limit. */
  error: string | null;
  /** The address rules refused the request, so nothing was sent. */
  isRefused?: true;
};

/** Limits of a request: total milliseconds, bytes of the response to read, and bytes to keep. */
export type Limits = { milliseconds: number; maxBytes: number; keptBytes: number };

const usualLimits: Limits = { milliseconds: 10_000, maxBytes: 1_048_576, keptBytes: 8_192 };

const flatten = (headers: IncomingMessage['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : String(value),
    ]),
  );

/**
 * Reads the response up to the limit, then drops the connection. Uses events, because an iterator takes twice as long.
 */
const readBody = async (response: IncomingMessage, { maxBytes, keptBytes }: Limits): Promise<string> => {
  let [bytes, kept] = [0, 0];
  const parts: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    const take = (chunk: Buffer): void => {
      if (kept < keptBytes) parts.push(chunk.subarray(0, keptBytes - kept));
      kept = Math.min(keptBytes, kept + chunk.length);
      bytes += chunk.length;
      if (bytes > maxBytes) resolve(void response.destroy());
    };
    const closed = (): void => reject(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }));
    response.on('data', take).on('end', resolve).on('error', reject).on('close', closed);
  });
  return Buffer.concat(parts).toString('utf8').replaceAll('\0', '');
};

/** Lets the receiver's spans join the sender's trace. */
const getTraceHeaders = (): Record<string, string> => {
  const trace = currentMeter()?.trace ?? null;
  return trace === null ? {} : { traceparent: formatTraceparent(trace) };
};

/** Sends the request and reads the response; destroys the request unless the response is complete. */
const exchange = async (request: ClientRequest, body: string, limits: Limits): Promise<Outcome> => {
  let outcome: Outcome = { status: null, headers: {}, body: '', error: null };
  let isComplete = false;
  try {
    const response = await getResponse(request, body);
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

/** Returns whether the receiver closed an idle connection at the moment it was used again. */
const isStale = (request: ClientRequest, { status, error }: Outcome): boolean =>
  request.reusedSocket && status === null && (error === 'ECONNRESET' || error === 'EPIPE');

/** Retries once on a new connection if the reused one was stale. */
const exchangeReusing = async (
  open: (sharesConnections: boolean) => Promise<ClientRequest>,
  body: string,
  limits: Limits,
): Promise<Outcome> => {
  const request = await open(true);
  const outcome = await exchange(request, body, limits);
  return isStale(request, outcome) ? await exchange(await open(false), body, limits) : outcome;
};

const describeError = (error: unknown): string => {
  if (error instanceof AddressRefusal) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  return (code ?? message ?? 'failed').slice(0, 200);
};

const failed = (error: string): Outcome => ({ status: null, headers: {}, body: '', error });

const toOutcome = (error: unknown): Outcome => ({
  ...failed(describeError(error)),
  ...(error instanceof AddressRefusal && { isRefused: true }),
});

/** Sends a request. Never throws: failures are outcomes. */
export const sendRequest = async (
  outgoing: OutgoingRequest,
  rules: AddressRules,
  { lookup, limits = usualLimits }: { lookup?: Lookup; limits?: Limits } = {},
): Promise<Outcome> => {
  const url = URL.parse(outgoing.url);
  if (url === null || !/^https?:$/.test(url.protocol)) return failed('the URL is invalid');
  let request: ClientRequest | null = null;
  const timedOut = Promise.withResolvers<Outcome>();
  const timer = setTimeout(() => {
    timedOut.resolve(failed('timeout'));
    request?.destroy(new Error('timeout'));
  }, limits.milliseconds);
  const work = async (): Promise<Outcome> => {
    const { body, headers, verifiesCertificate, method = 'POST' } = outgoing;
    const length = method === 'POST' && { 'content-length': String(Buffer.byteLength(body)) };
    const sent = { ...headers, ...getTraceHeaders(), ...length };
    const open = async (sharesConnections: boolean): Promise<ClientRequest> =>
      (request = await openCheckedRequest(url, {
        method,
        headers: sent,
        rules,
        verifiesCertificate,
        lookup,
        sharesConnections,
      }));
    return await observed(
      { kind: 'http', name: url.hostname },
      async () => await exchangeReusing(open, body, limits),
    );
  };
  try {
    return await Promise.race([work().catch(toOutcome), timedOut.promise]);
  } finally {
    clearTimeout(timer);
  }
};
