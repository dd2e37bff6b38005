/** What a stranger may send to the SSH server before they authenticate. */
import { connect } from 'node:net';
import { createECDH, randomBytes } from 'node:crypto';
import ssh2 from 'ssh2';
import { type HeaderFields, headerOf, makeHeader } from '../support/servers/proxy_header.ts';

/** A conversation with the server at a port, up to its end. */
export type SshProbe = { name: string; talk: (port: number) => Promise<void> };

const ident = 'SSH-2.0-fuzz\r\n';
/** Messages of RFC 4253. */
const [ignore, keyExchangeInit, keyExchangeRequest] = [2, 20, 30];

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

const text = (value: string | Buffer): Buffer =>
  Buffer.concat([uint32(Buffer.byteLength(value)), Buffer.from(value as string)]);

/** A packet before encryption. */
const packet = (...payload: Buffer[]): Buffer => {
  const content = Buffer.concat(payload);
  const padding = 16 - ((content.length + 5) % 8);
  return Buffer.concat([
    uint32(content.length + padding + 1),
    Buffer.from([padding]),
    content,
    Buffer.alloc(padding),
  ]);
};

/** The algorithms that both sides have, in the order of the message. */
const lists = (kex: string): string[] => [
  kex,
  'ssh-ed25519,rsa-sha2-256,ecdsa-sha2-nistp256',
  'aes128-ctr',
  'aes128-ctr',
  'hmac-sha2-256',
  'hmac-sha2-256',
  'none',
  'none',
  '',
  '',
];

const initPacket = (names: string[]): Buffer =>
  packet(Buffer.from([keyExchangeInit]), randomBytes(16), ...names.map(text), Buffer.alloc(5));

/** Sends pieces, then waits until the connection is closed, also by an error. */
const ended = async (port: number, pieces: (string | Buffer)[]): Promise<void> => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const socket = connect({ port, host: '127.0.0.1' })
    .on('error', () => undefined)
    .on('close', () => resolve())
    .resume();
  for (const piece of pieces) socket.write(piece);
  socket.end();
  await closed;
};

const raw = (name: string, ...pieces: (string | Buffer)[]): SshProbe => ({
  name,
  talk: async (port) => await ended(port, pieces),
});

/** OpenSSH's programs send up to 35,000 bytes in a packet. */
const longestList = 34_000;

const inLists = [',', 'a,', 'curve25519-sha256,', 'aes128-ctr,', 'a'];

const initProbes = inLists.flatMap((fragment) =>
  Array.from({ length: 10 }, (_one, at) => {
    const long = fragment.repeat(Math.floor(longestList / fragment.length));
    const names = lists('curve25519-sha256').map((list, index) => (index === at ? long + list : list));
    return raw(`list ${at} of ${JSON.stringify(fragment)}`, ident + initPacket(names).toString('latin1'));
  }),
);

/** Public values, of the lengths that methods of key exchange have. */
const publicBytes: Record<string, number> = {
  'curve25519-sha256': 32,
  'diffie-hellman-group14-sha256': 256,
  'diffie-hellman-group15-sha512': 384,
  'diffie-hellman-group16-sha512': 512,
  'diffie-hellman-group17-sha512': 768,
  'diffie-hellman-group18-sha512': 1024,
};

const points = ['prime256v1', 'secp384r1', 'secp521r1'];

const makePoint = (curve: string): Buffer => createECDH(curve).generateKeys();

const exchange = (method: string, value: Buffer): SshProbe =>
  raw(
    `key exchange by ${method}`,
    Buffer.concat([
      Buffer.from(ident),
      initPacket(lists(method)),
      packet(Buffer.from([keyExchangeRequest]), text(value)),
    ]),
  );

const exchangeProbes: SshProbe[] = [
  ...Object.entries(publicBytes).map(([method, length]) =>
    exchange(method, Buffer.concat([Buffer.from([0x01]), randomBytes(length - 1)])),
  ),
  ...points.map((curve, at) => exchange(`ecdh-sha2-nistp${[256, 384, 521][at]}`, makePoint(curve))),
];

/** What the client of `ssh2` keeps to itself. */
type Inside = {
  _protocol: {
    rekey: () => void;
    authPK: (
      user: string,
      key: string,
      sign: (data: Buffer, done: (signature: Buffer) => void) => void,
    ) => void;
  };
};

/** Connects with a client that authenticates by itself. */
const withClient = async (port: number, act: (client: ssh2.Client & Inside) => void): Promise<void> => {
  const client = new ssh2.Client() as ssh2.Client & Inside;
  const { promise, resolve } = Promise.withResolvers<void>();
  client.on('error', () => resolve()).on('close', () => resolve());
  client.connect({ port, host: '127.0.0.1', username: 'git', authHandler: () => act(client) });
  await promise;
  client.destroy();
};

/** A key whose check takes OpenSSL long: 16,384 bits, and the longest exponent for them. */
const slowKey = (): string => {
  const exponent = Buffer.concat([Buffer.from([0]), Buffer.alloc(8, 0xff)]);
  const modulus = randomBytes(2049);
  modulus[0] = 0;
  modulus[1] = 0xc1;
  modulus[2048] = 0xff;
  const blob = Buffer.concat([text('ssh-rsa'), text(exponent), text(modulus)]);
  return `ssh-rsa ${blob.toString('base64')}`;
};

const clientProbes: SshProbe[] = [
  {
    name: 'signatures of an unknown key',
    talk: async (port) => {
      const key = slowKey();
      const signature = randomBytes(2048);
      signature[0] = 0;
      await withClient(port, ({ _protocol }) => {
        _protocol.authPK('git', key, (_data, done) => done(signature));
      });
    },
  },
  {
    name: 'key exchange again and again',
    talk: async (port) => {
      let times = 0;
      await withClient(port, (client) => {
        const again = (): void => {
          times += 1;
          if (times > 50) client.destroy();
          else client._protocol.rekey();
        };
        client.on('rekey' as never, again);
        again();
      });
    },
  },
];

const ignored = (length: number): Buffer => packet(Buffer.from([ignore]), text('a'.repeat(length)));

export const sshProbes: SshProbe[] = [
  raw('a long version', `SSH-2.0-${'a'.repeat(8_000)}\r\n`),
  raw('a version without an end', `SSH-2.0-${'a'.repeat(64_000)}`),
  raw('a version with many dashes', `SSH-2.0-${'- '.repeat(4_000)}\r\n`),
  raw(
    'many small packets',
    ident + initPacket(lists('curve25519-sha256')).toString('latin1'),
    Buffer.concat(Array.from({ length: 100_000 }, () => ignored(0))),
  ),
  raw(
    'many large packets',
    ident + initPacket(lists('curve25519-sha256')).toString('latin1'),
    Buffer.concat(Array.from({ length: 100 }, () => ignored(30_000))),
  ),
  ...initProbes,
  ...exchangeProbes,
  ...clientProbes,
];

const longestHeader = 0xffff;

/** A header of the PROXY protocol with so many bytes after its fixed part. */
const proxied = (name: string, rest: string | Buffer, fields: HeaderFields = {}): SshProbe =>
  raw(`PROXY header ${name}`, makeHeader({ ...fields, rest: Buffer.from(rest as string) }), ident);

/** Headers that begin a connection behind a proxy. Of the longest that are taken, and longer. */
export const proxyProbes: SshProbe[] = [
  ...[2_048, longestHeader].flatMap((length) =>
    ['\0', '\x04\0\0', '\x20\0\x01a'].map((fragment) =>
      proxied(
        `${length} bytes of ${JSON.stringify(fragment)}`,
        fragment.repeat(length / fragment.length).padEnd(length, '\0'),
      ),
    ),
  ),
  proxied('of another family', Buffer.alloc(2_048), { family: 0x31 }),
  proxied('of the proxy itself', Buffer.alloc(2_048), { command: 0x20 }),
  raw(
    'PROXY headers one after another',
    Buffer.concat(Array.from({ length: 4_000 }, () => headerOf('192.0.2.7'))),
  ),
  raw('PROXY header of version 1', 'PROXY TCP4 '.repeat(10_000)),
  raw(
    'PROXY header byte by byte',
    ...Array.from(headerOf('192.0.2.7'), (byte) => Buffer.from([byte])),
    ident,
  ),
];
