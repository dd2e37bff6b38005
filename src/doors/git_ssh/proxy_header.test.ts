/** Headers of the PROXY protocol, over sockets. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { test } from 'node:test';
import { headerOf, ipv4Addresses, makeHeader } from '../../../test/support/servers/proxy_header.ts';
import { readProxyHeader } from './proxy_header.ts';

type Read = { address: string | null | undefined; after: string };

/** Sends pieces, then closes. @returns what was read: undefined for no header */
const readPieces = async (pieces: readonly Buffer[]): Promise<Read> => {
  const { promise, resolve } = Promise.withResolvers<Read>();
  const server = createServer((socket: Socket) => {
    readProxyHeader(socket, (header) => {
      let after = '';
      socket.on('data', (chunk) => (after += chunk.toString()));
      socket.once('end', () => resolve({ address: header === null ? undefined : header.address, after }));
    });
    // Also if the callback never comes.
    socket.once('close', () => resolve({ address: undefined, after: '' }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.setNoDelay(true);
  for (const piece of pieces) {
    client.write(piece);
    await new Promise(setImmediate);
  }
  client.end();
  const read = await promise;
  client.destroy();
  server.close();
  return read;
};

const ipv6 = Buffer.from('20010db800000000000000000000000720010db800000000000000000000000130390016', 'hex');
const mapped = Buffer.from('00000000000000000000ffffcb00710900000000000000000000ffffcb00710130390016', 'hex');
const extension = Buffer.from('0300040a0b0c0d', 'hex');

const cases: [string, Buffer, string | null | undefined][] = [
  ['IPv4', headerOf('203.0.113.7'), '203.0.113.7'],
  ['IPv6', makeHeader({ family: 0x21, rest: ipv6 }), '2001:db8::7'],
  ['IPv4 as IPv6', makeHeader({ family: 0x21, rest: mapped }), '203.0.113.9'],
  [
    'with extensions',
    makeHeader({ rest: Buffer.concat([ipv4Addresses('203.0.113.8'), extension]) }),
    '203.0.113.8',
  ],
  ['a check of the proxy itself', makeHeader({ command: 0x20, family: 0, rest: extension }), null],
  ['an unknown family', makeHeader({ family: 0x31, rest: Buffer.alloc(216) }), null],
  ['nothing but the fixed part', makeHeader({ command: 0x20, family: 0 }), null],
];

for (const [name, header, address] of cases) {
  const ssh = Buffer.from('SSH-2.0-client\r\n');
  test(`${name}: reads the header alone, at once and byte by byte`, async () => {
    const expected = { address, after: ssh.toString() };
    assert.deepEqual(await readPieces([Buffer.concat([header, ssh])]), expected);
    const bytes = Array.from(header, (byte) => Buffer.from([byte]));
    assert.deepEqual(await readPieces([...bytes, ssh]), expected);
  });
}

test('refuses what is no such header', async () => {
  for (const bytes of [
    Buffer.from('SSH-2.0-client of some length\r\n'),
    Buffer.from('PROXY TCP4 203.0.113.7 192.0.2.1 12345 22\r\n'),
    makeHeader({ command: 0x22, rest: ipv4Addresses('203.0.113.7') }),
    makeHeader({ command: 0x11, rest: ipv4Addresses('203.0.113.7') }),
    makeHeader({ rest: ipv4Addresses('203.0.113.7').subarray(0, 11) }),
    makeHeader({ family: 0x21, rest: ipv4Addresses('203.0.113.7') }),
    makeHeader({ rest: Buffer.alloc(2_049) }),
  ])
    assert.equal((await readPieces([bytes])).address, undefined, bytes.toString('latin1'));
});

test('refuses a header that ends early', async () => {
  const header = headerOf('203.0.113.7');
  for (let length = 1; length < header.length; length += 1)
    assert.equal((await readPieces([header.subarray(0, length)])).address, undefined, `${length} bytes`);
});
