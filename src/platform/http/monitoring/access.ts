/** Decides who may read health and metrics: addresses of the allow-list, and holders of the monitoring token. */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { matchNetworks } from '../../addresses/match_networks.ts';

export type MonitoringRules = {
  /** IP addresses and CIDR ranges. */
  allow: readonly string[];
  token: string | null;
  trustedProxies: readonly string[];
};

type MonitoringRequest = Pick<FastifyRequest, 'headers' | 'ip' | 'socket'>;

const text = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(',') : value;

/** Parses the addresses of `Forwarded: for=192.0.2.1;proto=https, for="[2001:db8::1]:80"`, in order. */
const forwardedAddresses = (header: string): string[] =>
  header.split(',').map((element) => {
    const value = /(?:^|[;\s])for="?([^";\s]*)"?/i.exec(element)?.[1] ?? '';
    return /^\[(.*)\](?::\d+)?$/.exec(value)?.[1] ?? value.replace(/^([\d.]+):\d+$/, '$1');
  });

/** Returns whether headers reveal a proxy, whether or not they name the client. */
const isForwarded = (headers: IncomingHttpHeaders): boolean =>
  Object.keys(headers).some((name) => /^(?:forwarded|via|x-real-ip|x-forwarded-.*)$/.test(name));

/** Returns the nearest address that is not a trusted proxy; if all are, the farthest. */
const nearestClient = (addresses: string[], isProxy: (address: string) => boolean): string =>
  addresses.findLast((address) => !isProxy(address)) ?? addresses[0] ?? '';

/**
 * Returns every client address that the forwarding headers name. Proxies differ in which header they set and pass the
 * others on from the client, so all addresses must be allowed.
 */
const clientAddresses = (
  { headers, ip }: MonitoringRequest,
  isProxy: (address: string) => boolean,
): string[] => {
  const forwarded = text(headers['forwarded']);
  const real = text(headers['x-real-ip']);
  return [
    ...(headers['x-forwarded-for'] === undefined ? [] : [ip]),
    ...(forwarded === undefined ? [] : [nearestClient(forwardedAddresses(forwarded), isProxy)]),
    ...(real === undefined ? [] : [real.trim()]),
  ];
};

const digest = (value: string): Buffer => hash('sha256', value, 'buffer');

/**
 * Authorizes a request by its client's address or by its bearer token. Forwarding headers count only if the peer is a
 * trusted proxy. From any other peer, they reveal a proxy with an unknown client, and the address gives no access:
 * otherwise a proxy on this machine would make every client local.
 */
export const monitoringGuard = ({ allow, token, trustedProxies }: MonitoringRules) => {
  const isAllowed = matchNetworks(allow);
  const isProxy = matchNetworks(trustedProxies);
  const expected = token === null ? null : digest(`Bearer ${token}`);

  const hasToken = ({ authorization = '' }: IncomingHttpHeaders): boolean =>
    expected !== null && timingSafeEqual(expected, digest(authorization));

  const hasAddress = (request: MonitoringRequest): boolean => {
    const peer = request.socket.remoteAddress ?? '';
    if (!isForwarded(request.headers)) return isAllowed(peer);
    const clients = isProxy(peer) ? clientAddresses(request, isProxy) : [];
    return clients.length > 0 && clients.every(isAllowed);
  };

  return (request: MonitoringRequest): boolean => hasToken(request.headers) || hasAddress(request);
};
