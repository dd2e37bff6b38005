/** Case, and Unicode normalization in linear time. */

/**
 * Maximum combining marks per letter. A normalizer sorts the marks of a letter by insertion, in quadratic time:
 * 80,000 marks take 3 seconds. No writing system needs the 30 of Unicode's Stream-Safe Text Format.
 */
const maxMarks = 30;

/** The lookbehind starts a match once per run, not at each of its marks. */
const longRun = new RegExp(String.raw`(?<!\p{M})(\p{M}{${maxMarks}})\p{M}+`, 'gu');

/** Drops marks past `mostMarks` of each letter. */
const capMarks = (text: string): string => text.replace(longRun, '$1');

const beyondAscii = /[\u0080-\uffff]/;

/** Normalizes a text, with runs of combining marks cut. */
export const normalizeText = (text: string, form: 'NFC' | 'NFKD'): string =>
  beyondAscii.test(text) ? capMarks(capMarks(text).normalize(form)) : text;

/** Folds case for search: both texts and terms are folded before comparison. */
export const foldCase = (text: string): string =>
  beyondAscii.test(text)
    ? capMarks(capMarks(text).normalize('NFC').toLowerCase().normalize('NFC'))
    : text.toLowerCase();

/** Lower-cases the letters A to Z only, as the databases do. */
export const lowerAscii = (text: string): string =>
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Returns the text with its first letter in upper case. */
export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
