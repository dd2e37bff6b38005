import { hash } from 'node:crypto';
import { createRequire } from 'node:module';
import type compile from 'fast-json-stringify';
import type { TSchema } from 'typebox';
import { JsonText } from './endpoint.ts';

const require = createRequire(import.meta.url);

/** Loads the serializer compiler with the first compiled shape, because it needs a validator of seventy modules. */
const compiler = (): typeof compile => require('fast-json-stringify') as typeof compile;

export type Serialize = (value: unknown) => JsonText;

/**
 * Creates the serializer of a declared shape, which omits undeclared properties. Compiled at first use, so that
 * startup does not pay for unused endpoints.
 */
export const lazySerializer = (schema: TSchema): Serialize => {
  let compiled: ((value: unknown) => string) | undefined;
  return (value) => {
    if (value instanceof JsonText) return value;
    compiled ??= compiler()(schema) as (value: unknown) => string;
    return new JsonText(compiled(value));
  };
};

const [begin, comma, end] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];

/** Joins serialized items into a list. Its digest is computed from their digests, which may be cached. */
export const listText = (items: readonly JsonText[]): JsonText => {
  const parts = items.flatMap(({ bytes }, index) => (index === 0 ? [bytes] : [comma, bytes]));
  const digest = hash('sha1', items.map((item) => item.digest).join(' '), 'base64url');
  return new JsonText(Buffer.concat([begin, ...parts, end]), digest);
};
