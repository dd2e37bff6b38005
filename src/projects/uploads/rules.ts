import { Failure } from '../../platform/errors.ts';
import type { Settings } from '../../core/settings/fields.ts';
import { maxSvgBytes, svgType } from '../../platform/http/svg.ts';
import { normalizeText } from '../../platform/unicode.ts';

export const tooBig = () => new Failure('too_large', { message: 'File is too big' });

/** Returns the maximum size of a file in bytes. */
export const getMaxFileBytes = ({ max_attachment_size }: Settings): number =>
  max_attachment_size * 1024 * 1024;

const maxNameLength = 255;

/** Returns the name of a file in URLs and on the disks of users: never a path, without invisible characters. */
export const cleanName = (filename: string): string => {
  const last = normalizeText(filename.toWellFormed(), 'NFC').split(/[/\\]/).at(-1) ?? '';
  const plain = last.replace(/[^\p{L}\p{M}\p{N}_.+-]/gu, '_');
  const name = /^\.*$/.test(plain) ? `_${plain}` : plain;
  const dot = name.lastIndexOf('.');
  const ending = dot > 0 && name.length - dot <= 32 ? name.slice(dot) : '';
  const stem = ending === '' ? name : name.slice(0, dot);
  return shortened(stem, maxNameLength - Buffer.byteLength(ending)) + ending;
};

/** Truncates a text to a number of bytes, between characters. */
const shortened = (text: string, maxLength: number): string => {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxLength) return text;
  let end = maxLength;
  while (isContinuation(bytes[end])) end -= 1;
  return bytes.toString('utf8', 0, end);
};

/** Returns whether a byte of UTF-8 continues a character. */
const isContinuation = (byte = 0): boolean => (byte & 0xc0) === 0x80;

/**
 * Types of pictures that a browser shows without running anything, of SVG by the headers that it is served with. Other
 * files are attachments.
 */
const pictures: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: svgType,
};

/** Returns the content type of a picture by its name; null: served as an attachment, as is a large SVG. */
export const getImageType = (name: string, size: number): string | null => {
  const ending = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : '';
  const type = Object.hasOwn(pictures, ending) ? (pictures[ending] ?? null) : null;
  return type === svgType && size > maxSvgBytes ? null : type;
};
