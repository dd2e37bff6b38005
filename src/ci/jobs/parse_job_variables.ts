import { invalid } from '../../platform/errors.ts';

export type JobVariable = { key: string; value: string };

const parameter = 'job_variables_attributes';
const maxVariables = 200;
const maxValueBytes = 65_536;
const keyPattern = /^[a-zA-Z0-9_]{1,255}$/;

const toItems = (input: unknown): unknown[] => {
  if (Array.isArray(input)) return input;
  return typeof input === 'object' && input !== null ? Object.values(input) : [input];
};

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.isWellFormed() && !value.includes('\0');

const parseVariable = (item: unknown): JobVariable => {
  const { key, value: sent } = (typeof item === 'object' && item !== null ? item : {}) as Record<
    string,
    unknown
  >;
  const value = typeof sent === 'number' || typeof sent === 'boolean' ? String(sent) : sent;
  if (!isText(key) || !keyPattern.test(key)) throw invalid({ [parameter]: ['key is invalid'] });
  if (!isText(value) || Buffer.byteLength(value) > maxValueBytes) {
    throw invalid({ [parameter]: ['value is invalid'] });
  }
  return { key, value };
};

/**
 * Parses the variables that a job is started with: `[{ key, value }, ...]`. The last value of a repeated key wins.
 * @throws Failure 400
 */
export const parseJobVariables = (input: unknown): JobVariable[] => {
  if (input === undefined || input === null || input === '') return [];
  const items = toItems(input);
  if (items.length > maxVariables)
    throw invalid({ [parameter]: [`is too long (maximum is ${maxVariables} values)`] });
  const variables = items.map(parseVariable);
  return [...new Map(variables.map((one) => [one.key, one])).values()];
};
