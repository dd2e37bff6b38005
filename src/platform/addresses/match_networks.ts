/** Matches addresses against lists of addresses and ranges. */
import { BlockList, isIP } from 'node:net';

const getFamily = (address: string): 'ipv4' | 'ipv6' | null => {
  const family = isIP(address);
  if (family === 0) return null;
  return family === 4 ? 'ipv4' : 'ipv6';
};

/** @param networks IP addresses and CIDR ranges */
export const matchNetworks = (networks: readonly string[]): ((address: string) => boolean) => {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = getFamily(address) ?? 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => {
    const family = getFamily(address);
    return family !== null && list.check(address, family);
  };
};
