/**
 * Copies bytes into separate memory. Use it for buffers that are cached: a short `Buffer` shares a slab of 64 KiB with
 * others (`Buffer.poolSize`), and one cached buffer keeps the whole slab in memory
 * (docs/decisions/0003-memory-flags.md).
 */
export const copyUnpooled = (bytes: Uint8Array): Buffer => {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
};
