const mark = 'x'.charCodeAt(0);

/**
 * The bytes with an `x` in place of each byte of a secret, so that every place in them stays what it is.
 * @returns null: there is none in them
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

type Border = { ending: Buffer; /** Bytes of one that may stand on either side. */ longest: number };

/** Whether a secret stands in what comes, or began at the end of what is there: without joining the two. */
export const hasSecret = ({ ending, longest }: Border, chunk: Buffer, secrets: readonly string[]): boolean =>
  standsIn(chunk, secrets) ||
  (ending.length > 0 && standsIn(Buffer.concat([ending, chunk.subarray(0, longest)]), secrets));
