import { Failure } from '../errors.ts';
import type { Settings } from '../settings/fields.ts';
import { normalizeText } from '../unicode.ts';

export const tooBig = () => new Failure('too_large', { message: 'File is too big' });

/** Bytes that one file may have. */
export const largestFile = ({ max_attachment_size }: Settings): number => max_attachment_size * 1024 * 1024;

const longestName = 255;

/** What a file is called in addresses and on the disk of whoever takes it: never a path, nothing that hides. */
export const cleanName = (given: string): string => {
  const last = normalizeText(given.toWellFormed(), 'NFC').split(/[/\\]/).at(-1) ?? '';
  const plain = last.replace(/[^\p{L}\p{M}\p{N}_.+-]/gu, '_');
  const name = /^\.*$/.test(plain) ? `_${plain}` : plain;
  const dot = name.lastIndexOf('.');
  const ending = dot > 0 && name.length - dot <= 32 ? name.slice(dot) : '';
  const stem = ending === '' ? name : name.slice(0, dot);
  return shortened(stem, longestName - Buffer.byteLength(ending)) + ending;
};

/** Cuts a text to so many bytes, between characters. */
const shortened = (text: string, most: number): string => {
  const bytes = Buffer.from(text);
  if (bytes.length <= most) return text;
  let end = most;
  while (isContinuation(bytes[end])) end -= 1;
  return bytes.toString('utf8', 0, end);
};

/** Whether a byte of UTF-8 follows another of the same character. */
const isContinuation = (byte = 0): boolean => (byte & 0xc0) === 0x80;

/** Pictures that a browser shows and that can do nothing: all else is only to be saved. */
const pictures: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

/** The content type of a picture, by its name; null: none that is shown. */
export const pictureType = (name: string): string | null => {
  const ending = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : '';
  return Object.hasOwn(pictures, ending) ? (pictures[ending] ?? null) : null;
};
