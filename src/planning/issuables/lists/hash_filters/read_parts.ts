/** Reads the parts of a filter that is sent as a hash: `not[labels]=a,b`, `or[labels][]=a`. */
import { type Failure, invalid } from '../../../../platform/errors.ts';

const maxNames = 100;
const maxNameLength = 255;

export type Parts = Record<string, unknown>;

/** A part of a hash: `{ of: 'not', name: 'labels' }` is `not[labels]`. */
type Part = { of: string; name: string };

export const failPart = ({ of, name }: Part): Failure => invalid({ [`${of}[${name}]`]: ['is invalid'] });

/** @throws Failure 400 if the value is not a hash */
export const readParts = (of: string, input: unknown): Parts => {
  if (input === undefined || input === null || input === '') return {};
  if (typeof input !== 'object' || Array.isArray(input)) throw invalid({ [of]: ['is invalid'] });
  return input as Parts;
};

export const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= maxNameLength && value.isWellFormed() && !value.includes('\0');

/** Reads names: one text with commas, or several texts. @throws Failure 400 for other values */
export const readNames = (parts: Parts, part: Part): string[] => {
  const input = parts[part.name] ?? [];
  const names: unknown[] =
    typeof input === 'string' ? input.split(',') : Array.isArray(input) ? input : [null];
  if (names.length > maxNames || !names.every(isName)) throw failPart(part);
  return names.map((one) => one.trim()).filter((one) => one !== '');
};
