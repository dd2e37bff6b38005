/** Reads the header of the PROXY protocol, version 2, with which a proxy names the client before it relays bytes. */
import { type Socket, SocketAddress } from 'node:net';

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const fixedLength = 16;
/** Bytes of addresses and extensions. Proxies send a few hundred at most. */
const maxVariableLength = 2_048;

const versionAndCommand = { local: 0x20, proxy: 0x21 };
const families = { tcp4: 0x11, tcp6: 0x21 };

/** Length of the source address and of the rest: destination address and both ports. */
const lengths = { tcp4: { source: 4, all: 12 }, tcp6: { source: 16, all: 36 } };

/** `address` null: the proxy speaks for itself, or does not know its client. */
type ProxyHeader = { address: string | null };

const formatIpv6 = (bytes: Buffer): string => {
  const groups = Array.from({ length: 8 }, (_one, at) => bytes.readUInt16BE(at * 2).toString(16));
  const { address } = new SocketAddress({ address: groups.join(':'), family: 'ipv6' });
  return address.replace(/^::ffff:(?=\d+\.)/, '');
};

/** Parses the fixed part; null: this is no such header. @returns the length of the rest */
const parseLength = (fixed: Buffer): number | null => {
  // At the end of the bytes, `read` returns fewer than were asked for.
  if (fixed.length < fixedLength) return null;
  if (!fixed.subarray(0, signature.length).equals(signature)) return null;
  const command = fixed[12] ?? 0;
  if (command !== versionAndCommand.local && command !== versionAndCommand.proxy) return null;
  const length = fixed.readUInt16BE(14);
  return length > maxVariableLength ? null : length;
};

/** Parses a whole header; null: its addresses are incomplete. */
const parseAddresses = (fixed: Buffer, addresses: Buffer): ProxyHeader | null => {
  const family = fixed[13] ?? 0;
  const isKnown = family === families.tcp4 || family === families.tcp6;
  if (fixed[12] === versionAndCommand.local || !isKnown) return { address: null };
  const kind = family === families.tcp4 ? 'tcp4' : 'tcp6';
  const { source, all } = lengths[kind];
  if (addresses.length < all) return null;
  const bytes = addresses.subarray(0, source);
  return { address: kind === 'tcp4' ? bytes.join('.') : formatIpv6(bytes) };
};

/**
 * Reads the header, and nothing after it. Never called back if the socket closes before.
 * @param done null: the socket begins with something else
 */
export const readProxyHeader = (socket: Socket, done: (header: ProxyHeader | null) => void): void => {
  let fixed: Buffer | null = null;
  const end = (header: ProxyHeader | null): void => {
    socket.off('readable', read);
    // Without its last listener of `readable`, the socket flows again from the next tick on.
    setImmediate(() => {
      if (!socket.destroyed) done(header);
    });
  };
  const read = (): void => {
    fixed ??= socket.read(fixedLength) as Buffer | null;
    if (fixed === null) return;
    const length = parseLength(fixed);
    if (length === null) return end(null);
    const addresses = length === 0 ? Buffer.alloc(0) : (socket.read(length) as Buffer | null);
    if (addresses !== null) end(parseAddresses(fixed, addresses));
  };
  socket.on('readable', read);
};
