/**
 * Parses the raw parameters of a request into the declared parameters, typed and bounded, or throws a 400 in the
 * contract's shape. No other code reads query or body.
 */
import type { TObject } from 'typebox';
import { type Problems, invalid, missingAttribute } from '../errors.ts';
import { falseWords, trueWords } from './schema.ts';
import { ReceivedFile } from './body/received_file.ts';
import { parseDate, parseDay, parseTime } from '../time.ts';

/** Parameters as the client sent them, before parsing. */
export type RawParams = { readonly [name: string]: unknown };

/** Parses one kind of value; `undefined`: treated as absent. */
type Read = (raw: unknown) => unknown;

class Invalid extends Error {}

const isInvalid = 'is invalid';
const fail = (problem: string = isInvalid): never => {
  throw new Invalid(problem);
};

type Keywords = {
  type?: string;
  format?: string;
  enum?: readonly string[];
  items?: Keywords;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
  default?: unknown;
  'x-kind'?: 'names' | 'day' | 'id_or_path' | 'id_or_word' | 'unsupported' | 'unavailable' | 'any' | 'file';
  'x-clearable'?: true;
  'x-aliases'?: Record<string, string>;
  'x-words'?: readonly string[];
};

const integerText = /^[+-]?\d{1,16}$/;
const decimalText = /^[+-]?\d{1,16}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,2})?$/;

/** Returns the text of a scalar; a number is converted to text. */
const scalarText = (raw: unknown): string => {
  if (typeof raw === 'string') {
    return raw.isWellFormed() && !raw.includes('\0') ? raw : fail();
  }
  if (typeof raw === 'number' || typeof raw === 'boolean') return String(raw);
  return fail();
};

const isBlank = (raw: unknown): boolean => raw === null || raw === '';

const within = (value: number, { minimum = -Infinity, maximum = Infinity }: Keywords): number => {
  if (value < minimum) {
    return fail(
      minimum > -Number.MAX_SAFE_INTEGER ? `must be greater than or equal to ${minimum}` : isInvalid,
    );
  }
  return value > maximum ? fail() : value;
};

const readInteger = (raw: unknown, keywords: Keywords): number => {
  const text = scalarText(raw).trim();
  if (integerText.test(text)) return within(Number(text), keywords);
  if (!decimalText.test(text)) return fail();
  return within(Math.trunc(Number(text)), { minimum: -maxInteger, maximum: maxInteger, ...keywords });
};

const maxInteger = Number.MAX_SAFE_INTEGER;

const readDecimal = (raw: unknown, keywords: Keywords): number => {
  const text = scalarText(raw).trim();
  return decimalText.test(text) ? within(Number(text), keywords) : fail();
};

/** Characters of the longest word that is compared without regard to case. */
const maxWord = 64;

/** Lower-cases at most 65 characters: folding 2 MiB takes over 20 ms, and no accepted word is that long. */
const toWord = (text: string): string => text.slice(0, maxWord + 1).toLowerCase();

const readBoolean = (raw: unknown): boolean => {
  const word = toWord(scalarText(raw).trim());
  if (trueWords.includes(word)) return true;
  return falseWords.includes(word) ? false : fail();
};

/** Returns whether a text has more code points than allowed. Cheap for texts that are short enough anyway. */
const isLonger = (text: string, maxLength: number): boolean =>
  // A code point has at most two UTF-16 units. Avoids splitting very long texts.
  text.length > 2 * maxLength || (text.length > maxLength && [...text].length > maxLength);

const readText = (raw: unknown, { maxLength = 255 }: Keywords): string => {
  const text = raw === null ? '' : scalarText(raw);
  return isLonger(text, maxLength) ? fail(`is too long (maximum is ${maxLength} characters)`) : text;
};

const readWord = (raw: unknown, keywords: Keywords): string => {
  const sent = scalarText(raw);
  const word = keywords['x-aliases']?.[sent] ?? sent;
  return keywords.enum?.includes(word) === true ? word : fail('does not have a valid value');
};

/** Converts `[1, 2]`, `{"0": 1, "1": 2}` (a form's hash by index) or one scalar to a list. */
const toList = (raw: unknown): unknown[] => {
  if (Array.isArray(raw)) return raw;
  if (typeof raw !== 'object' || raw === null) return [raw];
  const entries = Object.entries(raw);
  return entries.every(([key]) => /^\d{1,4}$/.test(key)) ? entries.map(([, value]) => value) : fail();
};

const bounded = <T>(list: T[], { maxItems = 100 }: Keywords): T[] =>
  list.length > maxItems ? fail(`is too long (maximum is ${maxItems} values)`) : list;

const readIntegers = (raw: unknown, keywords: Keywords): number[] => {
  const parts = toList(raw).flatMap((part) => (typeof part === 'string' ? part.split(',') : [part]));
  const values = bounded(parts, keywords).filter((part) => !isBlank(part));
  return values.map((part) => readInteger(part, keywords.items ?? {}));
};

const readTexts = (raw: unknown, keywords: Keywords): string[] => {
  const items = keywords.items ?? {};
  const values = bounded(toList(raw), keywords).filter((part) => !isBlank(part));
  return values.map((part) => (items.enum === undefined ? readText(part, items) : readWord(part, items)));
};

const readNames = (raw: unknown, keywords: Keywords): string[] => {
  const parts = toList(raw).flatMap((part) => scalarText(part).split(','));
  const values = parts.map((part) => part.trim()).filter((part) => part !== '');
  return bounded(values, keywords);
};

const readIdOrPath = (raw: unknown, keywords: Keywords): number | string => {
  const text = readText(raw, keywords);
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
};

const readIdOrWord = (raw: unknown, keywords: Keywords): number | string => {
  const sent = toWord(scalarText(raw));
  const word = keywords['x-words']?.find((one) => one.toLowerCase() === sent);
  return word ?? readInteger(raw, { minimum: -maxInteger, maximum: maxInteger });
};

/** Reads a filter that is not implemented: accepts values that do not narrow the list, refuses others. */
const readUnsupported = (raw: unknown, { 'x-words': neutral = [] }: Keywords): undefined => {
  const parts = toList(raw).filter((part) => !isBlank(part));
  return parts.every((part) => neutral.includes(toWord(scalarText(part))))
    ? undefined
    : fail('is a filter that is not supported');
};

const readTime = (raw: unknown): number => parseTime(scalarText(raw)) ?? fail();
const readDate = (raw: unknown): string => parseDate(scalarText(raw)) ?? fail();

const readerByKind = (keywords: Keywords): Read => {
  const nothing = keywords['x-clearable'] === true ? null : undefined;
  switch (keywords['x-kind']) {
    case 'names':
      return (raw) => (raw === null ? nothing : readNames(raw, keywords));
    case 'id_or_path':
      return (raw) => readIdOrPath(raw, keywords);
    case 'day':
      return (raw) => (isBlank(raw) ? nothing : (parseDay(scalarText(raw)) ?? fail()));
    case 'id_or_word':
      return (raw) => (isBlank(raw) ? undefined : readIdOrWord(raw, keywords));
    case 'file':
      return (raw) => (isBlank(raw) ? null : raw instanceof ReceivedFile ? raw : fail());
    case 'unsupported':
      return (raw) => (isBlank(raw) ? undefined : readUnsupported(raw, keywords));
    default:
      return (raw) => raw;
  }
};

const readerByType = (keywords: Keywords): Read => {
  switch (keywords.type) {
    case 'integer':
      return (raw) => readInteger(raw, keywords);
    case 'number':
      return (raw) => readDecimal(raw, keywords);
    case 'boolean':
      return readBoolean;
    case 'array':
      return (raw) =>
        keywords.items?.type === 'integer' ? readIntegers(raw, keywords) : readTexts(raw, keywords);
    default:
      return readerOfText(keywords);
  }
};

const readerOfText = (keywords: Keywords): Read => {
  if (keywords.enum !== undefined) return (raw) => readWord(raw, keywords);
  if (keywords.format === 'date-time') return readTime;
  if (keywords.format === 'date') return readDate;
  return (raw) => readText(raw, keywords);
};

/**
 * Returns the parser of a declared parameter, and defines what null and empty values mean: cleared, absent, or empty
 * text.
 */
const getReader = (keywords: Keywords): Read => {
  if (keywords['x-kind'] !== undefined) return readerByKind(keywords);
  const read = readerByType(keywords);
  const isPlainText =
    keywords.type === 'string' && keywords.format === undefined && keywords.enum === undefined;
  if (keywords['x-clearable'] === true)
    return (raw) => (raw === null || (raw === '' && !isPlainText) ? null : read(raw));
  const isList = keywords.type === 'array';
  return (raw) => (isBlank(raw) && !isPlainText && !(isList && raw === '') ? undefined : read(raw));
};

type Declared = { name: string; required: boolean; fallback: unknown; read: Read };

/**
 * Parses the parameters of one request.
 * @throws Failure 400
 */
export type ParamsReader = (raw: RawParams) => Record<string, unknown>;

/**
 * Creates the parser of an endpoint's parameters.
 * @param schema declared parameters; missing parameters are reported in this order
 */
export const paramsReader = (schema: TObject): ParamsReader => {
  const required = new Set(schema.required ?? []);
  const declared: Declared[] = Object.entries(schema.properties).map(([name, property]) => {
    const keywords = property as Keywords;
    const fallback = keywords.default;
    return {
      name,
      required: required.has(name) && fallback === undefined,
      fallback,
      read: getReader(keywords),
    };
  });
  return (raw) => readAll(declared, raw);
};

const readAll = (declared: Declared[], raw: RawParams): Record<string, unknown> => {
  const values: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  const problems: Problems = {};
  for (const param of declared) {
    const value = readOne(param, raw[param.name], problems);
    if (value !== undefined) values[param.name] = value;
    else if (param.required && problems[param.name] === undefined) throw missingAttribute(param.name);
  }
  if (Object.keys(problems).length > 0) throw invalid(problems);
  return values;
};

const readOne = ({ name, fallback, read }: Declared, raw: unknown, problems: Problems): unknown => {
  if (raw === undefined) return fallback;
  try {
    const value = read(raw);
    return value === undefined ? fallback : value;
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    problems[name] = [error.message];
    return undefined;
  }
};
