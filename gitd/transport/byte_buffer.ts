/**
 * Collects incoming bytes in a buffer that doubles, so that many small pieces, and many small requests in one piece,
 * cost no more than large pieces.
 */
export const makeByteBuffer = () => {
  let buffer = Buffer.allocUnsafe(4096);
  let start = 0;
  let end = 0;
  /** Moves the bytes to the start of a buffer that has room for so many more. */
  const makeRoom = (byteCount: number): void => {
    const needed = end - start + byteCount;
    const target = 2 * needed > buffer.length ? Buffer.allocUnsafe(2 * needed) : buffer;
    buffer.copy(target, 0, start, end);
    buffer = target;
    end -= start;
    start = 0;
  };
  return {
    bytes: (): Buffer => buffer.subarray(start, end),
    add: (chunk: Buffer): void => {
      if (end + chunk.length > buffer.length) makeRoom(chunk.length);
      chunk.copy(buffer, end);
      end += chunk.length;
    },
    /** Removes and returns the first bytes. */
    take: (byteCount: number): Buffer => {
      const taken = Buffer.from(buffer.subarray(start, start + byteCount));
      start += byteCount;
      return taken;
    },
  };
};
