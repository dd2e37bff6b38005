const mark = 'x'.charCodeAt(0);

/**
 * Replaces each byte of a secret by `x`, so that offsets stay valid.
 * @returns null if the bytes contain no secret
 */
export const mask = (bytes: Buffer, secrets: readonly string[]): Buffer | null => {
  let masked: Buffer | null = null;
  for (const secret of secrets) {
    if (secret === '') continue;
    const length = Buffer.byteLength(secret);
    for (let at = bytes.indexOf(secret); at !== -1; at = bytes.indexOf(secret, at + length)) {
      masked ??= Buffer.from(bytes);
      masked.fill(mark, at, at + length);
    }
  }
  return masked;
};

const standsIn = (bytes: Buffer, secrets: readonly string[]): boolean =>
  secrets.some((secret) => secret !== '' && bytes.includes(secret));

type SecretBorder = {
  ending: Buffer;
  /** Bytes of a secret that may be on either side. */ maxOverlap: number;
};

/**
 * Returns whether a chunk contains a secret, or completes one that began at the end of the stored bytes. Avoids joining
 * the two.
 */
export const hasSecret = (
  { ending, maxOverlap }: SecretBorder,
  chunk: Buffer,
  secrets: readonly string[],
): boolean =>
  standsIn(chunk, secrets) ||
  (ending.length > 0 && standsIn(Buffer.concat([ending, chunk.subarray(0, maxOverlap)]), secrets));
