import qs from 'qs';
import { numberHashes } from './form_hashes.ts';
import type { RawParams } from '../params.ts';

/** Maximum parameters of one form; the rest is ignored. */
export const maxKeys = 1000;

const options = {
  plainObjects: true,
  duplicates: 'combine',
  depth: 5,
  parameterLimit: maxKeys,
  arrayLimit: maxKeys,
  charset: 'utf-8',
} as const;

const plus = 0x2b;
const space = 0x20;

/** Replaces each `+` by a space. Works on bytes: `replaceAll` takes 60 ns per match, which is 0.1 s for a full body. */
const withSpaces = (text: string): string => {
  if (!text.includes('+')) return text;
  const bytes = Buffer.from(text);
  for (let at = bytes.indexOf(plus); at !== -1 && at < bytes.length; at += 1) {
    if (bytes[at] === plus) bytes[at] = space;
  }
  return bytes.toString('utf8');
};

/** Parses `a=1&b[]=2&c[d]=3`. A name that occurs twice becomes an array, so that a scalar sent twice is refused. */
export const parseForm = (text: string): RawParams =>
  text === '' ? {} : qs.parse(numberHashes(withSpaces(text), maxKeys), options);

/** Nests values by their names as `parseForm` does, without decoding them. */
export const nestValues = (pairs: readonly { name: string; value: string }[]): RawParams => {
  if (pairs.length === 0) return {};
  const text = pairs
    .map(({ name }, at) => `${encodeURIComponent(name.toWellFormed())}=${at}`)
    .join('&')
    .replaceAll('%5B', '[')
    .replaceAll('%5D', ']');
  return qs.parse(numberHashes(text, maxKeys), {
    ...options,
    decoder: (part, standard, charset, kind) =>
      kind === 'value' ? (pairs[Number(part)]?.value ?? '') : standard(part, undefined, charset),
  });
};
