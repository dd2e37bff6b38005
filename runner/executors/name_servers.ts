/** The name servers that a sandbox may ask: those of this machine that do not listen on its loopback address. */
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { join } from 'node:path';

/** Where a machine whose own resolver listens on loopback keeps the servers that this one asks. */
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

/** Reads the first of the files that names such a server; empty where none does. */
export const findNameServers = (files: readonly string[] = resolverFiles): string[] => {
  for (const file of files) {
    const servers = reachableServers(readText(file));
    if (servers.length > 0) return servers;
  }
  return [];
};

/** Replaces `resolv.conf` in this folder; a sandbox that runs keeps the file that it started with. */
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
