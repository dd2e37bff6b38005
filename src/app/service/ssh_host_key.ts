import { generateKeyPairSync, randomBytes } from 'node:crypto';

const type = 'ssh-ed25519';
/** Block size in bytes to which the unencrypted private part is padded. */
const block = 8;

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

const field = (value: string | Buffer): Buffer => {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint32(bytes.length), bytes]);
};

/** Pads with 1, 2, 3 ... up to the end of a block. */
const pad = (bytes: Buffer): Buffer => {
  const missing = (block - (bytes.length % block)) % block;
  return Buffer.concat([bytes, Buffer.from(Array.from({ length: missing }, (_one, at) => at + 1))]);
};

/** Generates an Ed25519 key in OpenSSH's format (PROTOCOL.key), unencrypted. */
export const newSshHostKey = (): string => {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const [seed, point] = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')];
  const check = randomBytes(4);
  const secret = [
    check,
    check,
    field(type),
    field(point),
    field(Buffer.concat([seed, point])),
    field('gantry'),
  ];
  const body = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    field('none'), // cipher
    field('none'), // key derivation
    field(''),
    uint32(1),
    field(Buffer.concat([field(type), field(point)])),
    field(pad(Buffer.concat(secret))),
  ]);
  const lines = body.toString('base64').replaceAll(/.{70}/g, '$&\n').trimEnd();
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines}\n-----END OPENSSH PRIVATE KEY-----\n`;
};
