/** Writes the header of the PROXY protocol, version 2, as proxies do. */

const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');

export type HeaderFields = { command?: number; family?: number; rest?: Buffer };

export const makeHeader = ({
  command = 0x21,
  family = 0x11,
  rest = Buffer.alloc(0),
}: HeaderFields): Buffer => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(rest.length);
  return Buffer.concat([signature, Buffer.from([command, family]), length, rest]);
};

/** Returns the addresses of a client with IPv4 and of its proxy, with both ports. */
export const ipv4Addresses = (client: string): Buffer =>
  Buffer.from([...client.split('.').map(Number), 192, 0, 2, 1, 0x30, 0x39, 0, 22]);

/** A header that names a client with IPv4. */
export const headerOf = (client: string): Buffer => makeHeader({ rest: ipv4Addresses(client) });
