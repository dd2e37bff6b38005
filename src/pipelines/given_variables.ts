/** Variables that whoever makes a pipeline gives it. Their values are sealed, and never reach a log. */
import type { Platform } from '../access/call.ts';
import { seal, unseal } from '../access/seal.ts';
import { compiled } from '../db/compiled.ts';
import type { Reader } from '../db/open.ts';
import type { VariableType } from '../db/schema_ci.ts';
import { type Problems, invalid } from '../errors.ts';

export type GivenVariable = { key: string; value: string; variable_type: VariableType; raw: boolean };

export type SealedVariable = { key: string; sealed_value: string; variable_type: VariableType; raw: 0 | 1 };

const purpose = 'pipeline variable';
const mostVariables = 200;
const longestKey = 255;
/** Bytes. */
const longestValue = 65_536;
const mostBytes = 524_288;

const problemOf = ({ key, value }: GivenVariable): string | null => {
  if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(key)) return `${key}: can contain only letters, digits and '_'.`;
  if (!value.isWellFormed() || value.includes('\0')) return `${key}: has characters that are not allowed.`;
  if (key.length > longestKey) return `key is too long (maximum is ${longestKey} characters)`;
  return Buffer.byteLength(value) > longestValue
    ? `${key}: is too long. The maximum is ${longestValue} bytes.`
    : null;
};

const duplicateProblem = (keys: readonly string[]): string | null => {
  const twice = new Set(keys.filter((key, at) => keys.indexOf(key) !== at));
  return twice.size === 0 ? null : `Duplicate variable name: ${[...twice].join(', ')}`;
};

const totalProblem = (variables: readonly GivenVariable[]): string | null => {
  const bytes = variables.reduce((sum, { value }) => sum + Buffer.byteLength(value), 0);
  return bytes > mostBytes ? `are too long together (maximum is ${mostBytes} bytes)` : null;
};

/** What is wrong with the variables of a pipeline; empty: nothing. */
export const givenProblems = (variables: readonly GivenVariable[]): string[] => {
  if (variables.length > mostVariables) return [`are too many (maximum is ${mostVariables})`];
  const keys = variables.map(({ key }) => key);
  return [...variables.map(problemOf), duplicateProblem(keys), totalProblem(variables)].filter(
    (text) => text !== null,
  );
};

const isType = (value: unknown): value is VariableType => value === 'env_var' || value === 'file';

const bad = (text: string): Problems => ({ variables: [text] });

const readOne = (item: unknown): GivenVariable => {
  if (typeof item !== 'object' || item === null) throw invalid(bad('is invalid'));
  const { key, value = '', variable_type = 'env_var', raw = false } = item as Record<string, unknown>;
  if (typeof key !== 'string' || key === '') throw invalid(bad('key is missing'));
  if (!['string', 'number', 'boolean'].includes(typeof value)) throw invalid(bad('value is invalid'));
  if (!isType(variable_type)) throw invalid(bad('variable_type does not have a valid value'));
  return { key, value: String(value), variable_type, raw: raw === true || raw === 'true' };
};

const itemsOf = (sent: object): unknown[] => {
  if (Array.isArray(sent)) return sent as unknown[];
  const keys = Object.keys(sent);
  // `variables[0][key]=...` of a form; else a plain hash, as triggers have it.
  return keys.every((key) => /^\d+$/.test(key))
    ? Object.values(sent)
    : Object.entries(sent).map(([key, value]) => ({ key, value }));
};

/**
 * Out of a parameter: an array of `{ key, value, variable_type }`, or a hash.
 * @throws Failure 400
 */
export const readGiven = (sent: unknown): GivenVariable[] => {
  if (sent === undefined || sent === null || sent === '') return [];
  if (typeof sent !== 'object') throw invalid(bad('is invalid'));
  const variables = itemsOf(sent).map(readOne);
  const problems = givenProblems(variables);
  if (problems.length > 0) throw invalid({ variables: problems });
  return variables;
};

export const sealGiven = ({ secrets }: Platform, variables: readonly GivenVariable[]): SealedVariable[] =>
  variables.map(({ key, value, variable_type, raw }) => ({
    key,
    sealed_value: seal(secrets.encryption_key, purpose, value),
    variable_type,
    raw: raw ? 1 : 0,
  }));

export const openGiven = (
  { secrets }: Platform,
  { sealed_value, raw, ...row }: SealedVariable,
): GivenVariable => ({
  ...row,
  value: unseal(secrets.encryption_key, purpose, sealed_value),
  raw: raw === 1,
});

const ofPipeline = compiled((db, { pipeline_id }: { pipeline_id: number }) =>
  db
    .selectFrom('pipeline_variables')
    .select(['key', 'sealed_value', 'variable_type', 'raw'])
    .where('pipeline_id', '=', pipeline_id)
    .orderBy('key')
    .compile(),
);

/** What was given to a pipeline, by key. */
export const givenTo = async (
  platform: Platform,
  db: Reader,
  pipelineId: number,
): Promise<GivenVariable[]> => {
  const rows = await ofPipeline(db, { pipeline_id: pipelineId });
  return rows.map((row) => openGiven(platform, row));
};

export const asValues = (variables: readonly { key: string; value: string }[]): Record<string, string> =>
  Object.fromEntries(variables.map(({ key, value }) => [key, value]));
