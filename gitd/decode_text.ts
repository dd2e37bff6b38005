/** Decodes text and file names from repositories, whose encoding git does not check. */

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const windows1252 = new TextDecoder('windows-1252');

const decoderFor = (label: string): TextDecoder => {
  try {
    return new TextDecoder(label);
  } catch {
    return windows1252;
  }
};

/**
 * Decodes bytes as their encoding label says (UTF-8 if there is none). Falls back to Windows-1252 for invalid UTF-8 or an
 * unknown label.
 */
export const decodeText = (bytes: Uint8Array, label: string | null = null): string => {
  try {
    if (label === null || /^utf-?8$/i.test(label)) return utf8.decode(bytes);
  } catch {
    return windows1252.decode(bytes);
  }
  return decoderFor(label).decode(bytes);
};

/** Converts a file name from a byte string (latin1) to text. */
export const decodeFileName = (name: string): string => Buffer.from(name, 'latin1').toString('utf8');
