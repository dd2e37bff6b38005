/**
 * Kinds of parameters and JSON values that endpoints declare. Each is a JSON Schema, which also documents it, with
 * the TypeScript type of the value that `params.ts` parses.
 */
import type { TSchema, TUnsafe, Type } from 'typebox';
import type { ReceivedFile } from './body/received_file.ts';

export const maxId = Number.MAX_SAFE_INTEGER;

/** Spellings of booleans, in lower case. */
export const trueWords: readonly string[] = ['1', 'on', 't', 'true', 'y', 'yes'];
export const falseWords: readonly string[] = ['0', 'off', 'f', 'false', 'n', 'no'];

// TypeBox provides the types only. Its builders would make the same plain JSON Schema, but loading their 370 modules
// adds 0.1 s and 20 MB to startup.

const unsafe = <T>(schema: object): TUnsafe<T> => ({ ...schema }) as TUnsafe<T>;

/** A non-enumerable mark, so that a schema stays plain JSON. */
const optionalMark = '~optional';

const isOptional = (schema: object): boolean => optionalMark in schema;

/** Marks a parameter or property as optional: `undefined` if absent. */
export const optional = ((schema: TSchema) =>
  Object.defineProperty({ ...schema }, optionalMark, { value: true })) as typeof Type.Optional;

/** An object with these properties, in this order; all properties are required unless optional. */
export const object = ((properties: Record<string, object>, options: object = {}) => ({
  type: 'object',
  ...options,
  required: Object.keys(properties).filter((name) => !isOptional(properties[name] ?? {})),
  properties,
})) as unknown as typeof Type.Object;

export const array = ((items: TSchema) => ({ type: 'array', items })) as unknown as typeof Type.Array;

/** A scalar that null or an empty value clears; the parsed value is then null. */
export const clearable = <T>(schema: TUnsafe<T>): TUnsafe<T | null> =>
  unsafe<T | null>({ ...schema, 'x-clearable': true });

export const integer = (options: { minimum?: number; maximum?: number; description?: string } = {}) =>
  unsafe<number>({ type: 'integer', minimum: -maxId, maximum: maxId, ...options });

/** An id or iid. A well-formed value of no record is "not found", not "invalid". */
export const id = (description?: string) => integer(description === undefined ? {} : { description });

export const decimal = (options: { minimum?: number; maximum?: number; description?: string } = {}) =>
  unsafe<number>({ type: 'number', ...options });

export const boolean = (options: { description?: string; default?: boolean } = {}) =>
  unsafe<boolean>({ type: 'boolean', ...options });

export const text = (options: { maxLength?: number; description?: string } = {}) =>
  unsafe<string>({ type: 'string', maxLength: 255, ...options });

/** Long text: 1,048,576 characters. */
export const longText = (description?: string) =>
  text({ maxLength: 1_048_576, ...(description === undefined ? {} : { description }) });

/** One of some words. `aliases` maps other spellings to them. */
export const oneOf = <const W extends string>(
  words: readonly W[],
  options: { default?: W; description?: string; aliases?: Record<string, W> } = {},
) => {
  const { aliases, ...rest } = options;
  return unsafe<W>({ type: 'string', enum: words, ...rest, ...(aliases && { 'x-aliases': aliases }) });
};

/** A time, parsed into milliseconds since 1970. */
export const time = (description?: string) =>
  unsafe<number>({ type: 'string', format: 'date-time', ...(description && { description }) });

/** `YYYY-MM-DD`. */
export const date = (description?: string) =>
  unsafe<string>({ type: 'string', format: 'date', ...(description && { description }) });

/** Like `date`; also accepts a time and takes its day, because some clients have no date type. */
export const day = (description?: string) =>
  unsafe<string>({ type: 'string', format: 'date', 'x-kind': 'day', ...(description && { description }) });

/** Names as one comma-separated text, or as an array. Trimmed; empty names are dropped. */
export const names = (options: { description?: string; maxItems?: number } = {}) =>
  unsafe<string[]>({ type: 'string', 'x-kind': 'names', maxItems: 100, maxLength: 255, ...options });

/** Integers as an array, one scalar, a hash by index or a comma-separated text. */
export const integers = (options: { description?: string; maxItems?: number } = {}) =>
  unsafe<number[]>({
    type: 'array',
    items: { type: 'integer', minimum: -maxId, maximum: maxId },
    maxItems: 100,
    ...options,
  });

/** Texts as an array, one scalar or a hash by index. */
export const texts = (
  options: { description?: string; maxItems?: number; words?: readonly string[] } = {},
) => {
  const { words, ...rest } = options;
  return unsafe<string[]>({
    type: 'array',
    items: { type: 'string', maxLength: 255, ...(words && { enum: words }) },
    maxItems: 100,
    ...rest,
  });
};

/** A record's id or its full path (`group/project`). A text of digits is always an id. */
export const idOrPath = (description: string) =>
  unsafe<number | string>({ type: 'string', 'x-kind': 'id_or_path', maxLength: 1000, description });

/** A user by id, or another word such as `None` and `Any`. */
export const idOrWord = <const W extends string>(words: readonly W[], description?: string) =>
  unsafe<number | W>({ type: 'string', 'x-kind': 'id_or_word', 'x-words': words, description });

/**
 * A list filter that clients send and that is not implemented. Ignoring it would return too many records, so a value
 * that would narrow the list is refused.
 * @param neutral lower-case values that do not narrow the list
 */
export const unsupportedFilter = (neutral: readonly string[] = []) =>
  optional(
    unsafe<undefined>({
      type: 'string',
      'x-kind': 'unsupported',
      'x-words': neutral,
      description: 'not supported: rejected if it would filter the list',
    }),
  );

/** A parameter of a write that clients send and that has no effect here: accepted, and reported as ignored. */
export const unavailable = () =>
  optional(
    unsafe<unknown>({
      type: 'string',
      'x-kind': 'unavailable',
      description: 'not available: ignored and listed in `Gantry-Ignored-Parameters`',
    }),
  );

/** A value with several parts, as JSON or as `name[part]=...`. The endpoint that declares it checks the parts. */
export const hash = (properties: Record<string, TSchema>, description?: string) =>
  unsafe<unknown>({ type: 'object', properties, 'x-kind': 'any', ...(description && { description }) });

/**
 * A file of a multipart form; null if an empty value was sent, which removes what was there. The whole body is kept in
 * memory, so it has at most 2 MB.
 */
export const fileParam = (description: string) =>
  unsafe<ReceivedFile | null>({ type: 'string', 'x-kind': 'file', description });

/** A value in its own format, parsed by the endpoint. */
export const raw = (description: string) => unsafe<unknown>({ 'x-kind': 'any', description });

/** ---- shapes of responses ---- */

export const nullable = <S extends TSchema>(schema: S): TUnsafe<Type.Static<S> | null> =>
  unsafe<Type.Static<S> | null>({ ...schema, nullable: true });

/** An object whose keys are data. */
export const dictionary = <S extends TSchema>(values: S): TUnsafe<Record<string, Type.Static<S>>> =>
  unsafe({ type: 'object', additionalProperties: values });

/** One of two shapes. */
export const either = <A extends TSchema, B extends TSchema>(
  one: A,
  other: B,
): TUnsafe<Type.Static<A> | Type.Static<B>> => unsafe({ anyOf: [one, other] });

export const timestamp = unsafe<string>({ type: 'string', format: 'date-time' });
export const string = unsafe<string>({ type: 'string' });
export const int = unsafe<number>({ type: 'integer' });
export const number = unsafe<number>({ type: 'number' });
/** A decimal: a number, or text if `GANTRY_COMPAT` includes `decimal-strings`. */
export const decimalNumber = unsafe<number | string>({ type: ['number', 'string'] });
export const bool = unsafe<boolean>({ type: 'boolean' });
/** Any JSON value, for the few responses whose keys are data. */
export const anything = unsafe<unknown>({});
