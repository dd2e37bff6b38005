/** Returns whether a name is safe to extract: relative, without empty parts, `.`, `..` and NUL. */
export const isSafeName = (name: string): boolean => {
  const parts = (name.endsWith('/') ? name.slice(0, -1) : name).split('/');
  return !name.includes('\0') && parts.every((part) => part !== '' && part !== '.' && part !== '..');
};

const strict = new TextDecoder('utf-8', { fatal: true });

/** Decodes a name as UTF-8, else as Latin-1. Ignores the UTF-8 flag: many writers store UTF-8 without setting it. */
export const decodeName = (bytes: Buffer): string => {
  const text = bytes.toString('utf8');
  if (!text.includes('\ufffd')) return text;
  try {
    return strict.decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
};
