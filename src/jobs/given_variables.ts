import { invalid } from '../errors.ts';

export type JobVariable = { key: string; value: string };

const name = 'job_variables_attributes';
const most = 200;
/** Bytes. */
const longestValue = 65_536;
const keyPattern = /^[a-zA-Z0-9_]{1,255}$/;

const partsOf = (given: unknown): unknown[] => {
  if (Array.isArray(given)) return given;
  return typeof given === 'object' && given !== null ? Object.values(given) : [given];
};

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.isWellFormed() && !value.includes('\0');

const readOne = (part: unknown): JobVariable => {
  const { key, value: sent } = (typeof part === 'object' && part !== null ? part : {}) as Record<
    string,
    unknown
  >;
  const value = typeof sent === 'number' || typeof sent === 'boolean' ? String(sent) : sent;
  if (!isText(key) || !keyPattern.test(key)) throw invalid({ [name]: ['key is invalid'] });
  if (!isText(value) || Buffer.byteLength(value) > longestValue) {
    throw invalid({ [name]: ['value is invalid'] });
  }
  return { key, value };
};

/**
 * The variables that a job is started with: `[{ key, value }, ...]`; of one key the last.
 * @throws Failure 400
 */
export const givenVariables = (given: unknown): JobVariable[] => {
  if (given === undefined || given === null || given === '') return [];
  const parts = partsOf(given);
  if (parts.length > most) throw invalid({ [name]: [`is too long (maximum is ${most} values)`] });
  const read = parts.map(readOne);
  return [...new Map(read.map((one) => [one.key, one])).values()];
};
