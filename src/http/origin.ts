import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { unreadable } from './failure.ts';

const plainHost = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** Whether a `Host` header can stand in a URL: `x:99999` and `[::::]` look like a host and are none. */
const isHost = (host: string): boolean => plainHost.test(host) && URL.canParse(`http://${host}`);

/**
 * Base of the absolute URLs in an answer: the configured one, else the scheme and host that the client used
 * (as a trusted proxy tells them).
 * @throws Failure 400 for a host that no URL can have
 */
export const baseUrlOf = (request: FastifyRequest, externalUrl: string | null): string => {
  if (externalUrl !== null) return externalUrl;
  const host = request.host;
  if (host === undefined || host === '') return 'http://localhost';
  if (!isHost(host)) throw unreadable();
  return `${request.protocol}://${host}`;
};

/**
 * Whether two parties may read one request differently, of what Node lets through: two `Host` headers, and a
 * transfer coding beside `chunked`, which nobody here decodes.
 */
export const isAmbiguous = ({ rawHeaders, headers }: IncomingMessage): boolean => {
  const coding = headers['transfer-encoding'];
  return hasTwoHosts(rawHeaders) || (coding !== undefined && coding.trim().toLowerCase() !== 'chunked');
};

/** Node takes the first of two `Host` headers; two parties may then read one request differently. */
const hasTwoHosts = (rawHeaders: string[]): boolean => {
  let seen = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') seen += 1;
  }
  return seen > 1;
};
