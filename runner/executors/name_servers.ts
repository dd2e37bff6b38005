/** Finds name servers for a sandbox: the machine's name servers, except on loopback. */
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { join } from 'node:path';

/** File with the upstream servers of a resolver on loopback. */
const resolverFiles = [
  '/etc/resolv.conf',
  '/run/systemd/resolve/resolv.conf',
  '/run/NetworkManager/no-stub-resolv.conf',
];

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

/** IPv4 only: the network of a sandbox has no IPv6. */
const reachableServers = (text: string): string[] =>
  [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)]
    .map(([, address = '']) => address)
    .filter((address) => isIPv4(address) && !/^(?:127|0)\./.test(address));

/** Reads the first file that names a usable server; empty if none does. */
export const findNameServers = (files: readonly string[] = resolverFiles): string[] => {
  for (const file of files) {
    const servers = reachableServers(readText(file));
    if (servers.length > 0) return servers;
  }
  return [];
};

/** Replaces `resolv.conf` in the folder. A running sandbox keeps its old file. */
export const writeNameServers = (etc: string): void => {
  const file = join(etc, 'resolv.conf');
  writeFileSync(
    `${file}.new`,
    findNameServers()
      .map((address) => `nameserver ${address}\n`)
      .join(''),
  );
  chmodSync(`${file}.new`, 0o644);
  renameSync(`${file}.new`, file);
};
