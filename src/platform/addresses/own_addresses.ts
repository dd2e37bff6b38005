/** The addresses of this machine's network interfaces, which may be public. */
import { BlockList, isIP } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';

/** Milliseconds for which the interfaces are remembered. */
export const maxInterfacesAge = 5_000;

type Interfaces = { [name: string]: Pick<NetworkInterfaceInfo, 'address'>[] | undefined };

/** An address in brackets or with a zone, and its family; null if it is not one. */
const parse = (address: string): { bare: string; family: 'ipv4' | 'ipv6' } | null => {
  const bare = address.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  const version = isIP(bare);
  return version === 0 ? null : { bare, family: version === 4 ? 'ipv4' : 'ipv6' };
};

const toList = (interfaces: Interfaces): BlockList => {
  const list = new BlockList();
  for (const { address } of Object.values(interfaces).flatMap((one) => one ?? [])) {
    const parsed = parse(address);
    if (parsed !== null) list.addAddress(parsed.bare, parsed.family);
  }
  return list;
};

/** Returns a function that says whether an address, also one mapped into IPv6, is one of this machine. */
export const makeOwnAddresses = (
  readInterfaces: () => Interfaces,
  now: () => number,
): ((address: string) => boolean) => {
  let known: { list: BlockList; readAt: number } | null = null;
  return (address) => {
    const parsed = parse(address);
    if (parsed === null) return false;
    if (known === null || now() - known.readAt >= maxInterfacesAge)
      known = { list: toList(readInterfaces()), readAt: now() };
    return known.list.check(parsed.bare, parsed.family);
  };
};

export const isOwnAddress = makeOwnAddresses(networkInterfaces, () => performance.now());
