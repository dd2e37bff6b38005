/**
 * Opens HTTP requests to checked addresses: the host is resolved, every address is checked, and the connection goes
 * to a checked address; an open connection is used again only where the same addresses were checked. Redirects are not
 * followed.
 */
import { lookup as lookUpHost } from 'node:dns/promises';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { isIP } from 'node:net';
import { getPort, isListed, isPublicAddress, toBareHost } from './allowed_addresses.ts';
import { type Address, type Lookup, makeCachedLookup } from './cached_lookup.ts';
import { isOwnAddress } from './own_addresses.ts';
import type { Pinned } from './open_connections.ts';

export type AddressRules = {
  /** Requests may go anywhere. */
  isLocalAllowed: boolean;
  /** Names, addresses and subnets that requests may reach in any case. */
  allowedHosts: readonly string[];
  /** Whether an address is one of this machine; default: by its network interfaces. */
  isOwn?: (address: string) => boolean;
};

/** The address must not be reached, or does not exist. */
export class AddressRefusal extends Error {}

const usualLookup = makeCachedLookup(async (host) => await lookUpHost(host, { all: true, verbatim: true }));

const resolve = async (host: string, lookup: Lookup): Promise<Address[]> => {
  const family = isIP(host);
  return family === 0 ? await lookup(host) : [{ address: host, family }];
};

/** Returns the addresses of a URL's host. @throws AddressRefusal if any of them must not be reached */
const resolveChecked = async (url: URL, rules: AddressRules, lookup: Lookup): Promise<Address[]> => {
  const host = toBareHost(url.hostname);
  const port = getPort(url);
  const addresses = await resolve(host, lookup);
  if (addresses.length === 0) throw new AddressRefusal('the host has no address');
  const { isLocalAllowed, allowedHosts, isOwn = isOwnAddress } = rules;
  const isAllowed = ({ address }: Address): boolean =>
    isLocalAllowed ||
    (isPublicAddress(address) && !isOwn(address)) ||
    isListed(allowedHosts, { host, port, address });
  const refused = addresses.filter((one) => !isAllowed(one));
  if (refused.length === 0) return addresses;
  throw new AddressRefusal(
    refused.every(({ address }) => isPublicAddress(address))
      ? 'this is an address of this machine; list it in outbound_local_requests_whitelist'
      : 'requests to the local network are not allowed',
  );
};

/** A lookup for the connection that answers only these addresses. */
const pinned = (addresses: Address[]): NonNullable<RequestOptions['lookup']> => {
  return (_host, options, callback) => {
    const [first] = addresses;
    if (options.all === true) (callback as (error: null, all: Address[]) => void)(null, addresses);
    else callback(null, first?.address ?? '', first?.family ?? 4);
  };
};

const load = async () =>
  await Promise.all([import('node:http'), import('node:https'), import('./open_connections.ts')]);

let loaded: ReturnType<typeof load> | null = null;

/** Loads the modules at first use, since few services need them, and once: `import()` costs as much as a statement. */
const loadHttp = async (): ReturnType<typeof load> => {
  loaded ??= load();
  try {
    return await loaded;
  } catch (error) {
    // The next request tries again.
    loaded = null;
    throw error;
  }
};

/** Where a request goes, as `node:http` derives it from a URL with many more members. */
const toPlace = (url: URL): RequestOptions => {
  const { protocol, hostname, port, pathname, search, username, password } = url;
  const hasCredentials = username !== '' || password !== '';
  return {
    protocol,
    hostname: toBareHost(hostname),
    ...(port !== '' && { port }),
    path: `${pathname}${search}`,
    ...(hasCredentials && { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` }),
  };
};

type CheckedRequest = {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  rules: AddressRules;
  /** True to verify the server's certificate. */
  verifiesCertificate: boolean;
  lookup?: Lookup | undefined;
  /** True to use and keep open connections. Default: a separate connection per request. */
  sharesConnections?: boolean;
};

/** Opens a request. @throws AddressRefusal */
export const openCheckedRequest = async (
  url: URL,
  {
    method,
    headers,
    rules,
    verifiesCertificate,
    lookup = usualLookup,
    sharesConnections = false,
  }: CheckedRequest,
): Promise<ClientRequest> => {
  const addresses = await resolveChecked(url, rules, lookup);
  const isSecure = url.protocol === 'https:';
  const [http, https, { agent, secureAgent }] = await loadHttp();
  const options: RequestOptions & Pinned & { rejectUnauthorized?: boolean } = {
    ...toPlace(url),
    method,
    agent: sharesConnections && (isSecure ? secureAgent : agent),
    // Sorted: name servers rotate the addresses of a host.
    checkedAddresses: addresses
      .map(({ address }) => address)
      .toSorted()
      .join(),
    lookup: pinned(addresses),
    headers,
    ...(isSecure && { rejectUnauthorized: verifiesCertificate }),
  };
  return (isSecure ? https : http).request(options);
};

/** Sends the body and waits for the head of the response. */
export const getResponse = async (
  request: ClientRequest,
  body: string | Uint8Array,
): Promise<IncomingMessage> =>
  await new Promise((fulfil, reject) => {
    request.on('response', fulfil).on('error', reject);
    request.end(body);
  });
