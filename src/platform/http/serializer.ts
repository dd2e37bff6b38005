import { hash } from 'node:crypto';
import { createRequire } from 'node:module';
import type compile from 'fast-json-stringify';
import type { TSchema } from 'typebox';
import { JsonText } from './endpoint.ts';

const require = createRequire(import.meta.url);

/** Loads the serializer compiler with the first compiled shape, because it needs a validator of seventy modules. */
const compiler = (): typeof compile => require('fast-json-stringify') as typeof compile;

export type Serialize = (value: unknown) => JsonText;

/** Compiles a shape at first use, so that startup does not pay for unused endpoints. */
const lazyText = (schema: TSchema): ((value: unknown) => string) => {
  let compiled: ((value: unknown) => string) | undefined;
  return (value) => {
    compiled ??= compiler()(schema) as (value: unknown) => string;
    return compiled(value);
  };
};

const toJsonText = (toText: (value: unknown) => string, value: unknown): JsonText =>
  value instanceof JsonText ? value : new JsonText(toText(value));

/** Creates the serializer of a declared shape, which omits undeclared properties. */
export const lazySerializer = (schema: TSchema): Serialize => {
  const toText = lazyText(schema);
  return (value) => toJsonText(toText, value);
};

/** Creates the serializer of lists of a declared shape. Items that are texts already are joined as they are. */
export const lazyListSerializer = (schema: TSchema): ((items: readonly unknown[]) => JsonText) => {
  const toText = lazyText(schema);
  return (items) =>
    items.some((item) => item instanceof JsonText)
      ? joinTexts(items.map((item) => toJsonText(toText, item)))
      : new JsonText(`[${items.map((item) => toText(item)).join(',')}]`);
};

const [begin, comma, end] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];

/** Joins serialized items into a list. Its digest is computed from their digests, which may be cached. */
const joinTexts = (items: readonly JsonText[]): JsonText => {
  const parts = items.flatMap(({ bytes }, index) => (index === 0 ? [bytes] : [comma, bytes]));
  const digest = hash('sha1', items.map((item) => item.digest).join(' '), 'base64url');
  return new JsonText(Buffer.concat([begin, ...parts, end]), digest);
};
