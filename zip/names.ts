/** Whether a name stays where it is put: relative, no `..` in it, nothing that another reader takes for another name. */
export const isSafeName = (name: string): boolean => {
  const parts = (name.endsWith('/') ? name.slice(0, -1) : name).split('/');
  return !name.includes('\0') && parts.every((part) => part !== '' && part !== '.' && part !== '..');
};

const strict = new TextDecoder('utf-8', { fatal: true });

/** Writers that say nothing of it write what they read of a folder, which is UTF-8 with nearly everybody. */
export const nameOf = (bytes: Buffer): string => {
  const text = bytes.toString('utf8');
  if (!text.includes('\ufffd')) return text;
  try {
    return strict.decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
};
