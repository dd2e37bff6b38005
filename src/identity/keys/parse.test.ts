import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { type SampleKey, freshKey, sampleKeys } from '../../../test/support/repositories/ssh_keys.ts';
import { defaults } from '../../core/settings/fields.ts';
import { parsePublicKey } from './parse.ts';
import { keyRefusal } from './rules.ts';

test('computes the bits and fingerprints of ssh-keygen for every type', async () => {
  for (const [name, sample] of Object.entries<SampleKey>(sampleKeys)) {
    const [type, blob] = sample.text.split(' ');
    assert.deepEqual(
      await parsePublicKey(sample.text),
      {
        type,
        blob,
        comment: sample.text.split(' ')[2],
        family: sample.family,
        bits: sample.bits,
        fingerprint: sample.md5,
        fingerprint_sha256: sample.sha256,
      },
      name,
    );
  }
});

test('ignores spaces around a key and within its comment', async () => {
  const parsed = await parsePublicKey(`  ${freshKey('  two words ')}\r\n`);
  assert.equal(parsed?.comment, 'two words');
  assert.equal((await parsePublicKey(freshKey()))?.comment, '');
});

const { text } = sampleKeys.ed25519;
const [, base64 = ''] = text.split(' ');
const bytes = Buffer.from(base64, 'base64');
const ofBlob = (type: string, blob: Buffer): string => `${type} ${blob.toString('base64')}`;
const { privateKey } = generateKeyPairSync('ed25519', {
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const otherPoint = Buffer.from(sampleKeys.ecdsa256.text.split(' ')[1] ?? '', 'base64');
otherPoint[otherPoint.length - 1] = (otherPoint.at(-1) ?? 0) ^ 1;

const numbersOf = (name: 'rsa2048' | 'ecdsa256'): Buffer[] => {
  const blob = Buffer.from(sampleKeys[name].text.split(' ')[1] ?? '', 'base64');
  const parts: Buffer[] = [];
  for (let at = 0; at < blob.length; at += 4 + (parts.at(-1)?.length ?? 0)) {
    parts.push(blob.subarray(at + 4, at + 4 + blob.readUInt32BE(at)));
  }
  return parts;
};
const ofParts = (type: string, parts: Buffer[]): string =>
  ofBlob(
    type,
    Buffer.concat(
      parts.flatMap((part) => [Buffer.from(part.length.toString(16).padStart(8, '0'), 'hex'), part]),
    ),
  );
const [rsaType = bytes, exponent = bytes, modulus = bytes] = numbersOf('rsa2048');
const [ecType = bytes, curve = bytes, point = bytes] = numbersOf('ecdsa256');
const zero = Buffer.alloc(1);
const halfPoint = Buffer.concat([Buffer.from([2 + ((point.at(-1) ?? 0) % 2)]), point.subarray(1, 33)]);

const refused: Record<string, string> = {
  nothing: '',
  'a word': 'ssh-ed25519',
  'no key': 'ssh-ed25519 AAAA',
  'a private key': privateKey,
  'the head of a private key before the key': `-----BEGIN OPENSSH PRIVATE KEY-----\n${text}`,
  'options before the key': `command="id" ${text}`,
  'an option without a value': `restrict ${text}`,
  'two lines': `${text}\n${freshKey()}`,
  'a carriage return in the comment': `${text}\rssh`,
  'a terminal sequence in the comment': `${text}\u001b[2J`,
  'another type than that within': ofBlob('ssh-rsa', bytes),
  'a type nobody knows': text.replace('ssh-ed25519', 'ssh-ed448'),
  'a name of every object': `constructor ${base64}`,
  'something behind the key': ofBlob('ssh-ed25519', Buffer.concat([bytes, Buffer.from([0, 0, 0, 1, 65])])),
  'half a key': ofBlob('ssh-ed25519', bytes.subarray(0, -1)),
  'a length past the end': ofBlob('ssh-ed25519', Buffer.from('00ffffff', 'hex')),
  'base64 that is none': text.replace('AAAA', 'AA*A'),
  'base64 without its padding': sampleKeys.ecdsa256.text.replace('= ', ' '),
  'a point that is not on the curve': ofBlob('ecdsa-sha2-nistp256', otherPoint),
  'another curve than its type says': ofBlob(
    'ecdsa-sha2-nistp384',
    Buffer.from(sampleKeys.ecdsa256.text.split(' ')[1] ?? '', 'base64'),
  ),
  'a hardware key without its application': ofBlob(
    'sk-ssh-ed25519@openssh.com',
    Buffer.from(sampleKeys.skEd25519.text.split(' ')[1] ?? '', 'base64').subarray(0, -8),
  ),
  'a number of no bytes': ofParts('ssh-rsa', [rsaType, Buffer.alloc(0), modulus]),
  'the same number behind one more zero': ofParts('ssh-rsa', [
    rsaType,
    exponent,
    Buffer.concat([zero, modulus]),
  ]),
  'a number below zero': ofParts('ssh-rsa', [rsaType, exponent, modulus.subarray(1)]),
  'half of a point': ofParts('ecdsa-sha2-nistp256', [ecType, curve, halfPoint]),
  'a certificate': text.replace('ssh-ed25519', 'ssh-ed25519-cert-v01@openssh.com'),
};

for (const [name, sent] of Object.entries(refused)) {
  test(`${name} is not a public key`, async () => {
    assert.equal(await parsePublicKey(sent), null);
  });
}

test('restricts each type of key separately', () => {
  const names = ['rsa', 'dsa', 'ecdsa', 'ed25519'] as const;
  for (const family of names) {
    const key = { family, bits: 256 };
    assert.equal(keyRefusal(defaults, key), null);
    const [off, large] = [-1, 1024].map((least) => ({ ...defaults, [`${family}_key_restriction`]: least }));
    assert.match(keyRefusal(off ?? defaults, key) ?? '', /^type is forbidden\. Must be /);
    assert.equal(keyRefusal(large ?? defaults, key), 'length must be at least 1024 bits');
    assert.equal(keyRefusal(large ?? defaults, { family, bits: 1024 }), null);
    for (const other of names.filter((name) => name !== family)) {
      assert.equal(keyRefusal(off ?? defaults, { family: other, bits: 256 }), null);
    }
  }
});

test('names the accepted types when it refuses a key', () => {
  const key = { family: 'dsa', bits: 1024 } as const;
  const forbidden = { ...defaults, dsa_key_restriction: -1 };
  assert.equal(keyRefusal(forbidden, key), 'type is forbidden. Must be RSA, ECDSA, or ED25519');
  const more = { ...forbidden, rsa_key_restriction: -1 };
  assert.equal(keyRefusal(more, key), 'type is forbidden. Must be ECDSA or ED25519');
});
