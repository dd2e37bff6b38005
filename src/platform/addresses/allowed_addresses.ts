/** Decides which addresses outgoing requests may reach. */
import { BlockList, isIP } from 'node:net';
import { isOwnAddress } from './own_addresses.ts';

/** Addresses that are not on the public Internet (RFC 6890 and its updates). */
const special: readonly (readonly [string, number, 'ipv4' | 'ipv6'])[] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.0.2.0', 24, 'ipv4'],
  ['192.88.99.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['198.51.100.0', 24, 'ipv4'],
  ['203.0.113.0', 24, 'ipv4'],
  ['224.0.0.0', 4, 'ipv4'],
  ['240.0.0.0', 4, 'ipv4'],
  ['::', 96, 'ipv6'],
  // Translations to IPv4 addresses, which could be private.
  ['64:ff9b::', 96, 'ipv6'],
  ['64:ff9b:1::', 48, 'ipv6'],
  ['100::', 64, 'ipv6'],
  ['2001::', 23, 'ipv6'],
  ['2001:db8::', 32, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['3fff::', 20, 'ipv6'],
  ['5f00::', 16, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['fec0::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
];

const blocked = new BlockList();
for (const [net, bits, family] of special) blocked.addSubnet(net, bits, family);

/** Returns whether an IP address is on the public Internet. False for anything else. */
export const isPublicAddress = (address: string): boolean => {
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return false;
  // Also checks IPv4 addresses that are mapped into IPv6.
  return !blocked.check(address, family === 4 ? 'ipv4' : 'ipv6');
};

/** Returns the address in brackets without them. */
export const toBareHost = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

/** Returns the port of a URL, or the default port of its protocol. */
export const getPort = ({ port, protocol }: Pick<URL, 'port' | 'protocol'>): string =>
  port === '' ? (protocol === 'https:' ? '443' : '80') : port;

/** Returns whether a host of a URL may be public: false for private addresses, and addresses and names of this machine. */
export const isPublicHost = (host: string): boolean => {
  const bare = toBareHost(host).toLowerCase().replace(/\.$/, '');
  if (isIP(bare) !== 0) return isPublicAddress(bare) && !isOwnAddress(bare);
  return bare !== 'localhost' && !bare.endsWith('.localhost') && bare !== '';
};

const isInSubnet = (subnet: string, address: string): boolean => {
  const [net = '', bits = ''] = subnet.split('/');
  const [family, own] = [isIP(net), isIP(address)];
  if (family === 0 || family !== own || !/^\d{1,3}$/.test(bits)) return false;
  if (Number(bits) > (family === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(net, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
  return list.check(address, family === 4 ? 'ipv4' : 'ipv6');
};

/**
 * Returns whether the list of allowed hosts has a host, by name, `name:port`, address or subnet.
 * @param address the resolved address; null: not resolved yet
 */
export const isListed = (
  allowed: readonly string[],
  { host, port, address }: { host: string; port: string; address: string | null },
): boolean => {
  const bare = toBareHost(host).toLowerCase();
  return allowed.some((entry) => {
    const name = entry.trim().toLowerCase();
    if (name === bare || name === `${bare}:${port}` || name === `[${bare}]:${port}`) return true;
    const resolved = address ?? (isIP(bare) === 0 ? null : bare);
    return resolved !== null && (name === resolved || isInSubnet(name, resolved));
  });
};
