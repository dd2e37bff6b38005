/** Parses, validates and seals the variables that a pipeline is created with. Values are never logged. */
import type { Platform } from '../../../core/platform.ts';
import { seal, unseal } from '../../../core/access/credentials/encrypt_secrets.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { VariableType } from '../../../platform/db/schema/ci.ts';
import { toFlag } from '../../../platform/db/schema/column_types.ts';
import { type Problems, invalid } from '../../../platform/errors.ts';

export type PipelineVariable = { key: string; value: string; variable_type: VariableType; raw: boolean };

export type SealedVariable = { key: string; sealed_value: string; variable_type: VariableType; raw: 0 | 1 };

const purpose = 'pipeline variable';
const maxVariables = 200;
const maxKeyLength = 255;
const maxValueBytes = 65_536;
const maxTotalBytes = 524_288;

const findProblem = ({ key, value }: PipelineVariable): string | null => {
  if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(key)) return `${key}: can contain only letters, digits and '_'.`;
  if (!value.isWellFormed() || value.includes('\0')) return `${key}: has characters that are not allowed.`;
  if (key.length > maxKeyLength) return `key is too long (maximum is ${maxKeyLength} characters)`;
  return Buffer.byteLength(value) > maxValueBytes
    ? `${key}: is too long. The maximum is ${maxValueBytes} bytes.`
    : null;
};

const findDuplicates = (keys: readonly string[]): string | null => {
  const twice = new Set(keys.filter((key, at) => keys.indexOf(key) !== at));
  return twice.size === 0 ? null : `Duplicate variable name: ${[...twice].join(', ')}`;
};

const findTotalProblem = (variables: readonly PipelineVariable[]): string | null => {
  const bytes = variables.reduce((sum, { value }) => sum + Buffer.byteLength(value), 0);
  return bytes > maxTotalBytes ? `are too long together (maximum is ${maxTotalBytes} bytes)` : null;
};

/** Returns the problems of a pipeline's variables; empty if they are valid. */
export const findVariableProblems = (variables: readonly PipelineVariable[]): string[] => {
  if (variables.length > maxVariables) return [`are too many (maximum is ${maxVariables})`];
  const keys = variables.map(({ key }) => key);
  return [...variables.map(findProblem), findDuplicates(keys), findTotalProblem(variables)].filter(
    (text) => text !== null,
  );
};

const isType = (value: unknown): value is VariableType => value === 'env_var' || value === 'file';

const invalidVariables = (text: string): Problems => ({ variables: [text] });

const parseVariable = (item: unknown): PipelineVariable => {
  if (typeof item !== 'object' || item === null) throw invalid(invalidVariables('is invalid'));
  const { key, value = '', variable_type = 'env_var', raw = false } = item as Record<string, unknown>;
  if (typeof key !== 'string' || key === '') throw invalid(invalidVariables('key is missing'));
  if (!['string', 'number', 'boolean'].includes(typeof value))
    throw invalid(invalidVariables('value is invalid'));
  if (!isType(variable_type)) throw invalid(invalidVariables('variable_type does not have a valid value'));
  return { key, value: String(value), variable_type, raw: raw === true || raw === 'true' };
};

const toItems = (sent: object): unknown[] => {
  if (Array.isArray(sent)) return sent as unknown[];
  const keys = Object.keys(sent);
  // A form sends `variables[0][key]=...`; triggers send a plain hash.
  return keys.every((key) => /^\d+$/.test(key))
    ? Object.values(sent)
    : Object.entries(sent).map(([key, value]) => ({ key, value }));
};

/**
 * Parses a request parameter: an array of `{ key, value, variable_type }`, or a hash of values by key.
 * @throws Failure 400
 */
export const parsePipelineVariables = (sent: unknown): PipelineVariable[] => {
  if (sent === undefined || sent === null || sent === '') return [];
  if (typeof sent !== 'object') throw invalid(invalidVariables('is invalid'));
  const variables = toItems(sent).map(parseVariable);
  const problems = findVariableProblems(variables);
  if (problems.length > 0) throw invalid({ variables: problems });
  return variables;
};

export const sealPipelineVariables = (
  { secrets }: Platform,
  variables: readonly PipelineVariable[],
): SealedVariable[] =>
  variables.map(({ key, value, variable_type, raw }) => ({
    key,
    sealed_value: seal(secrets.encryption_key, purpose, value),
    variable_type,
    raw: toFlag(raw),
  }));

export const unsealPipelineVariable = (
  { secrets }: Platform,
  { sealed_value, raw, ...row }: SealedVariable,
): PipelineVariable => ({
  ...row,
  value: unseal(secrets.encryption_key, purpose, sealed_value),
  raw: raw === 1,
});

const selectVariables = compiled((db, { pipeline_id }: { pipeline_id: number }) =>
  db
    .selectFrom('pipeline_variables')
    .select(['key', 'sealed_value', 'variable_type', 'raw'])
    .where('pipeline_id', '=', pipeline_id)
    .orderBy('key')
    .compile(),
);

/** Loads the variables that a pipeline was created with, ordered by key. */
export const loadPipelineVariables = async (
  platform: Platform,
  db: Reader,
  pipelineId: number,
): Promise<PipelineVariable[]> => {
  const rows = await selectVariables(db, { pipeline_id: pipelineId });
  return rows.map((row) => unsealPipelineVariable(platform, row));
};

export const toValueMap = (variables: readonly { key: string; value: string }[]): Record<string, string> =>
  Object.fromEntries(variables.map(({ key, value }) => [key, value]));
