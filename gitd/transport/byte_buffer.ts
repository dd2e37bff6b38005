/** Collects incoming bytes in a buffer that doubles, so that many small pieces cost no more than a large one. */
export const makeByteBuffer = () => {
  let buffer = Buffer.allocUnsafe(4096);
  let length = 0;
  return {
    bytes: (): Buffer => buffer.subarray(0, length),
    add: (chunk: Buffer): void => {
      if (length + chunk.length > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.max(2 * buffer.length, length + chunk.length));
        buffer.copy(larger, 0, 0, length);
        buffer = larger;
      }
      chunk.copy(buffer, length);
      length += chunk.length;
    },
    /** Removes and returns the first bytes. */
    take: (byteCount: number): Buffer => {
      const taken = Buffer.from(buffer.subarray(0, byteCount));
      buffer.copyWithin(0, byteCount, length);
      length -= byteCount;
      return taken;
    },
  };
};
