/** An authenticator in software: makes a passkey and signs with it, as a browser sends it (WebAuthn level 3). */
import { generateKeyPairSync, hash, randomBytes, sign } from 'node:crypto';

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
const sha256 = (text: string | Uint8Array): Buffer => hash('sha256', text, 'buffer');

/** Flags of what an authenticator has checked. */
const [present, verified, attested] = [0x01, 0x04, 0x40];

const uint = (value: number, bytes: number): Buffer => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
};

/** CBOR (RFC 8949) of the few forms that an answer without attestation has. */
const cborText = (text: string): Buffer =>
  Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);
const cborBytes = (bytes: Uint8Array): Buffer => {
  const head =
    bytes.length < 256
      ? [Buffer.from([0x58]), uint(bytes.length, 1)]
      : [Buffer.from([0x59]), uint(bytes.length, 2)];
  return Buffer.concat([...head, bytes]);
};

export type AnswerOptions = {
  challenge: string;
  origin: string;
  rpId: string;
  /** Whether the device has checked who holds it. */
  isVerified?: boolean;
};

export type Authenticator = {
  create: (options: AnswerOptions) => string;
  get: (options: AnswerOptions) => string;
};

export const openAuthenticator = (): Authenticator => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(16);
  let count = 0;

  const clientData = (type: string, { challenge, origin }: AnswerOptions): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const authenticatorData = ({ rpId, isVerified = true }: AnswerOptions, flags: number): Buffer => {
    count += 1;
    const all = present | flags | (isVerified ? verified : 0);
    return Buffer.concat([sha256(rpId), Buffer.from([all]), uint(count, 4)]);
  };
  const coseKey = (): Buffer => {
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    const [left, right] = [x, y].map((part) => Buffer.from(part, 'base64url'));
    // {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y}
    const head = Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01]);
    const parts = [Buffer.from([0x21]), cborBytes(left ?? id), Buffer.from([0x22]), cborBytes(right ?? id)];
    return Buffer.concat([head, ...parts]);
  };
  const answer = (response: object): string =>
    JSON.stringify({
      id: base64url(id),
      rawId: base64url(id),
      type: 'public-key',
      clientExtensionResults: {},
      response,
    });

  return {
    create: (options) => {
      const data = Buffer.concat([
        authenticatorData(options, attested),
        Buffer.alloc(16),
        uint(id.length, 2),
        id,
        coseKey(),
      ]);
      const attestationObject = Buffer.concat([
        Buffer.from([0xa3]),
        cborText('fmt'),
        cborText('none'),
        cborText('attStmt'),
        Buffer.from([0xa0]),
        cborText('authData'),
        cborBytes(data),
      ]);
      return answer({
        clientDataJSON: base64url(clientData('webauthn.create', options)),
        attestationObject: base64url(attestationObject),
        transports: ['internal'],
      });
    },
    get: (options) => {
      const [client, data] = [clientData('webauthn.get', options), authenticatorData(options, 0)];
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey);
      return answer({
        clientDataJSON: base64url(client),
        authenticatorData: base64url(data),
        signature: base64url(signature),
      });
    },
  };
};
