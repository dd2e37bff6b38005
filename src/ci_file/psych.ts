/** What an unquoted YAML scalar means to Ruby's Psych, by whose reading every existing file was written. */
import type { ScalarValue } from './node.ts';

/** Values that Ruby would make objects of, which the loader refuses. */
export type Refused = { refused: 'Date' | 'Time' };

const looksLikeText = /^[^\d.:-]?[\p{L}_\s!@#$%^&*(){}<>|/\\~;=]+/u;
const time =
  /^-?\d{4}-\d{1,2}-\d{1,2}(?:[Tt]|\s+)\d{1,2}:\d\d:\d\d(?:\.\d*)?(?:\s*(?:Z|[-+]\d{1,2}:?(?:\d\d)?))?$/;
const date = /^\d{4}-(?:1[012]|0\d|\d)-(?:[12]\d|3[01]|0\d|\d)$/;
const sexagesimal = /^[-+]?\d[\d_]*(?::[0-5]?\d){1,2}$/;
const sexagesimalFloat = /^[-+]?\d[\d_]*(?::[0-5]?\d){1,2}\.[\d_]*$/;
const float = /^[-+]?(?:\d[\d_,]*)?\.\d*(?:[eE][+-]\d+)?$/;
const decimal = /^[-+]?(?:0|[1-9](?:\d|,\d|_\d)*)$/;
const octal = /^[-+]?0[0-7_,]+$/;
const binary = /^[-+]?0b[01_,]+$/;
const hexadecimal = /^[-+]?0x[\da-fA-F_,]+$/;
/** More digits than any number that a configuration means. */
const longestNumber = 400;

const shortWord = (text: string): ScalarValue => {
  if (/^(?:yes|true|on)$/i.test(text)) return true;
  if (/^(?:no|false|off)$/i.test(text)) return false;
  return text === '~' || /^null$/i.test(text) ? null : text;
};

/** `1:30` is one and a half hours to Psych: its first part always counts 3,600. */
const clockOf = (text: string): number =>
  text
    .replaceAll('_', '')
    .split(':')
    .reduce((sum, part, at) => sum + Number(part) * 60 ** Math.abs(at - 2), 0);

const integerOf = (text: string): bigint | null => {
  const digits = text.replaceAll(/[,_]/g, '');
  const negative = digits.startsWith('-');
  const bare = digits.replace(/^[-+]/, '');
  const isOctal = octal.test(text) && bare.length > 1;
  if (!isOctal && !decimal.test(text) && !binary.test(text) && !hexadecimal.test(text)) return null;
  if (bare === '0b' || bare === '0x') return null;
  const value = BigInt(isOctal ? `0o${bare.slice(1) || '0'}` : bare);
  return negative ? -value : value;
};

const numberOf = (text: string): ScalarValue | undefined => {
  if (/^\+?\.inf$/i.test(text)) return Infinity;
  if (/^-\.inf$/i.test(text)) return -Infinity;
  if (/^\.nan$/i.test(text)) return NaN;
  if (sexagesimal.test(text)) return BigInt(clockOf(text));
  if (sexagesimalFloat.test(text)) return clockOf(text);
  if (float.test(text)) {
    return /^[-+]?\.$/.test(text) ? text : Number(text.replaceAll(/[,_]/g, '').replace(/\.(?=[eE]|$)/, ''));
  }
  return integerOf(text) ?? undefined;
};

const symbolName = (text: string): string => {
  const quote = text[0];
  const isQuoted = (quote === '"' || quote === "'") && text.length > 1 && text.endsWith(quote);
  return isQuoted ? text.slice(1, -1).trim() : text;
};

/** The value of an unquoted scalar. A symbol (`:name`) is its name. */
export const psychScalar = (text: string): ScalarValue | Refused => {
  if (text === '') return null;
  if (looksLikeText.test(text) || text.includes('\n')) return text.length > 5 ? text : shortWord(text);
  if (time.test(text)) return { refused: 'Time' };
  if (date.test(text)) return { refused: 'Date' };
  if (text.length > 1 && text.startsWith(':')) return symbolName(text.slice(1));
  return text.length > longestNumber ? text : (numberOf(text) ?? text);
};
