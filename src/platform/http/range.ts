/** Range requests (RFC 9110, section 14): one byte range; requests for several get the whole. */
export type ByteRange = { start: number; end: number };

/**
 * Parses a `Range` header.
 * @param size bytes of the whole
 * @returns null: the whole; `unsatisfiable`: no such part
 */
export const parseRange = (header: string | undefined, size: number): ByteRange | 'unsatisfiable' | null => {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.replaceAll(' ', '') ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return null;
  const start = first === '' ? Math.max(size - Number(last), 0) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  return start > end ? 'unsatisfiable' : { start, end };
};

const isToken = /^[\w.+-]+$/;

/** Formats `Content-Disposition` with a name of any characters. */
export const formatDisposition = (kind: 'inline' | 'attachment', name: string): string => {
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  const plain = isToken.test(name) ? name : name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`;
};
