/** Groups the addresses of one client, for limits. */
import { isIPv6 } from 'node:net';

/** Returns the first 64 bits of an IPv6 address, for one host has all addresses of such a network. */
const getNetwork = (address: string): string => {
  const [head = '', tail] = address.split('::');
  const before = head.split(':').filter((part) => part !== '');
  const after = (tail ?? '').split(':').filter((part) => part !== '');
  const zeros = tail === undefined ? 0 : Math.max(8 - before.length - after.length, 0);
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after];
  const first = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${first.join(':')}::/64`;
};

/** Returns the origin of a request, for limits by client: the IPv4 address or the IPv6 network. */
export const getOrigin = (ip: string): string => {
  // Some proxies add the port, which differs for each connection.
  const bare = /^\[(.+)\](?::\d+)?$/.exec(ip)?.[1] ?? ip.replace(/^([\d.]+):\d+$/, '$1');
  const address = bare.toLowerCase().replace(/%.*$/, '');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  return mapped ?? (isIPv6(address) ? getNetwork(address) : address);
};
