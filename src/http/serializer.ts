import buildSerializer from 'fast-json-stringify';
import type { TSchema } from 'typebox';
import { JsonText } from './endpoint.ts';

export type Serialize = (value: unknown) => string;

/**
 * The compiled serializer of a declared shape: what is not declared does not leave. Compiled at first use, so
 * that a start does not pay for endpoints that nobody calls.
 */
export const lazySerializer = (schema: TSchema): Serialize => {
  let compiled: Serialize | undefined;
  return (value) => {
    if (value instanceof JsonText) return value.text;
    compiled ??= buildSerializer(schema as object) as Serialize;
    return compiled(value);
  };
};

/** A list's serializer: one text an item, joined. */
export const listSerializer = (item: Serialize): ((items: unknown[]) => string) => {
  return (items) => `[${items.map(item).join(',')}]`;
};
