import { type Failure, badRequest } from '../errors.ts';
import { mostKeys } from './form.ts';
import type { RawParams } from './params.ts';

const deepest = 32;

/**
 * Values and names of a body, at any depth. The parser takes up to 1 µs for a name and 0.1 µs for a value, and a body
 * may hold 700,000 of them before anybody has signed in. Every list that an endpoint declares is much shorter.
 */
const mostValues = 50_000;
const mostNames = 10_000;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openings = [0x5b, 0x7b] as const;
const closings = [0x5d, 0x7d] as const;

/** The position of the quote that ends a string; the length of the body where none does. */
const endOfString = (body: Buffer, start: number): number => {
  let at = start;
  for (;;) {
    at = body.indexOf(quote, at + 1);
    if (at === -1) return body.length;
    let first = at;
    while (body[first - 1] === backslash && first - 1 > start) first -= 1;
    if ((at - first) % 2 === 0) return at;
  }
};

/** Whether a body is small enough to parse, by its structure alone: whether it is JSON is for the parser to say. */
const isWithinLimits = (body: Buffer): boolean => {
  let depth = 0;
  let values = 0;
  let names = 0;
  for (let at = 0; at < body.length; at += 1) {
    switch (body[at]) {
      case quote:
        at = endOfString(body, at);
        break;
      case comma:
        values += 1;
        break;
      case colon:
        names += 1;
        break;
      case openings[0]:
      case openings[1]:
        depth += 1;
        values += 1;
        break;
      case closings[0]:
      case closings[1]:
        depth -= 1;
        break;
      default:
        continue;
    }
    if (depth > deepest || values > mostValues || names > mostNames) return false;
  }
  return true;
};

const invalidJson = (): Failure => badRequest('invalid JSON body');

/** @throws Failure 400 for what is no object, and for one that is too deep or has too many names or values */
export const parseJson = (body: Buffer): RawParams => {
  if (!isWithinLimits(body)) throw invalidJson();
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    throw invalidJson();
  }
  // Clients that have nothing to say send `null`.
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw invalidJson();
  if (Object.keys(value).length > mostKeys) throw invalidJson();
  return value as RawParams;
};
