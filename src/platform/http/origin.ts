import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { unreadable } from './failure.ts';

const plainHost = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** Returns whether a `Host` header can be part of a URL. `x:99999` and `[::::]` look like hosts but are invalid. */
const isHost = (host: string): boolean => plainHost.test(host) && URL.canParse(`http://${host}`);

/** The last host that was valid: most requests name the same. */
let validHost: string | null = null;

/**
 * Returns the base of absolute URLs: the configured one, else scheme and host of the request (as a trusted proxy
 * reports them).
 * @throws Failure 400 for an invalid host
 */
export const getBaseUrl = (request: FastifyRequest, externalUrl: string | null): string => {
  if (externalUrl !== null) return externalUrl;
  const host = request.host;
  if (host === undefined || host === '') return 'http://localhost';
  if (host !== validHost && !isHost(host)) throw unreadable();
  validHost = host;
  return `${request.protocol}://${host}`;
};

/**
 * Returns whether two servers could interpret a request differently, for cases that Node accepts: two `Host` headers,
 * or a transfer coding other than `chunked`, which is not decoded here.
 */
export const isAmbiguous = ({ rawHeaders, headers }: IncomingMessage): boolean => {
  const coding = headers['transfer-encoding'];
  return hasTwoHosts(rawHeaders) || (coding !== undefined && coding.trim().toLowerCase() !== 'chunked');
};

/** Returns whether there are two `Host` headers. Node uses the first. */
const hasTwoHosts = (rawHeaders: string[]): boolean => {
  let seen = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') seen += 1;
  }
  return seen > 1;
};
