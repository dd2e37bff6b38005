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

/** Maximum characters of a file name: file systems allow no more, and clients limit all headers to 16 KiB. */
const maxNameLength = 255;
/** Extension of a file name, which tells programs its type. */
const ending = /(?:\.[\w-]{1,16}){0,2}$/;

const shortenName = (name: string): string => {
  if (name.length <= maxNameLength) return name;
  const end = ending.exec(name)?.[0] ?? '';
  return [...name].slice(0, maxNameLength - end.length).join('') + end;
};

/** Formats `Content-Disposition` with a name of any characters; a long one is shortened. */
export const formatDisposition = (kind: 'inline' | 'attachment', fullName: string): string => {
  const name = shortenName(fullName);
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  const plain = isToken.test(name) ? name : name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`;
};
