/** Parses unquoted YAML scalars as Ruby's Psych does, because existing files were written for it. */
import type { ScalarValue } from './node.ts';

/** Values that Ruby would load as objects, which are refused. */
export type RefusedScalar = { refused: 'Date' | 'Time' };

const textPattern = /^[^\d.:-]?[\p{L}_\s!@#$%^&*(){}<>|/\\~;=]+/u;
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
/** Characters of the longest number. */
const maxNumberLength = 400;

const parseShortWord = (text: string): ScalarValue => {
  if (/^(?:yes|true|on)$/i.test(text)) return true;
  if (/^(?:no|false|off)$/i.test(text)) return false;
  return text === '~' || /^null$/i.test(text) ? null : text;
};

/** Psych reads `1:30` as 1.5 hours: the first part always counts 3,600. */
const parseClock = (text: string): number =>
  text
    .replaceAll('_', '')
    .split(':')
    .reduce((sum, part, at) => sum + Number(part) * 60 ** Math.abs(at - 2), 0);

const parseInteger = (text: string): bigint | null => {
  const digits = text.replaceAll(/[,_]/g, '');
  const negative = digits.startsWith('-');
  const bare = digits.replace(/^[-+]/, '');
  const isOctal = octal.test(text) && bare.length > 1;
  if (!isOctal && !decimal.test(text) && !binary.test(text) && !hexadecimal.test(text)) return null;
  if (bare === '0b' || bare === '0x') return null;
  const value = BigInt(isOctal ? `0o${bare.slice(1) || '0'}` : bare);
  return negative ? -value : value;
};

const parseNumber = (text: string): ScalarValue | undefined => {
  if (/^\+?\.inf$/i.test(text)) return Infinity;
  if (/^-\.inf$/i.test(text)) return -Infinity;
  if (/^\.nan$/i.test(text)) return NaN;
  if (sexagesimal.test(text)) return BigInt(parseClock(text));
  if (sexagesimalFloat.test(text)) return parseClock(text);
  if (float.test(text)) {
    return /^[-+]?\.$/.test(text) ? text : Number(text.replaceAll(/[,_]/g, '').replace(/\.(?=[eE]|$)/, ''));
  }
  return parseInteger(text) ?? undefined;
};

const symbolName = (text: string): string => {
  const quote = text[0];
  const isQuoted = (quote === '"' || quote === "'") && text.length > 1 && text.endsWith(quote);
  return isQuoted ? text.slice(1, -1).trim() : text;
};

/** Returns the value of an unquoted scalar. A symbol (`:name`) becomes its name. */
export const parsePsychScalar = (text: string): ScalarValue | RefusedScalar => {
  if (text === '') return null;
  if (textPattern.test(text) || text.includes('\n')) return text.length > 5 ? text : parseShortWord(text);
  if (time.test(text)) return { refused: 'Time' };
  if (date.test(text)) return { refused: 'Date' };
  if (text.length > 1 && text.startsWith(':')) return symbolName(text.slice(1));
  return text.length > maxNumberLength ? text : (parseNumber(text) ?? text);
};
