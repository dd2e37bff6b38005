/** What a CI variable may be called and hold. Pure. */
import type { Selectable } from 'kysely';
import type { VariablesTable } from '../db/schema_ci.ts';
import { type Problems, invalid } from '../errors.ts';
import { matchesWildcard } from '../wildcard.ts';

const longestKey = 255;
/** Bytes. */
const longestValue = 10_000;

export type Variable = Omit<
  Selectable<VariablesTable>,
  'id' | 'source_type' | 'source_id' | 'sealed_value' | 'created_at' | 'updated_at'
> & { value: string };

/** A value that a log can be cleaned of: one word of eight characters at least, of those that no shell changes. */
const maskable = /^[a-zA-Z0-9_+=/@:.~-]{8,}$/;

const keyProblems = (key: string): string[] => {
  if (key === '') return ["can't be blank"];
  if (!/^[a-zA-Z0-9_]+$/.test(key)) return ["can contain only letters, digits and '_'."];
  return key.length > longestKey ? [`is too long (maximum is ${longestKey} characters)`] : [];
};

const valueProblems = ({ value, masked, raw }: Variable): string[] => {
  if (Buffer.byteLength(value) > longestValue) return [`is too long. The maximum is ${longestValue} bytes.`];
  const isMaskable = raw === 1 ? /^\S{8,}$/.test(value) : maskable.test(value);
  return masked === 1 && !isMaskable ? ['is invalid'] : [];
};

const scopeProblems = ({ environment_scope: scope }: Variable): string[] => {
  if (scope === '') return ["can't be blank"];
  return /^[a-zA-Z0-9_/\\$.*{} -]+$/.test(scope)
    ? []
    : ["can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces"];
};

/** @throws Failure 400 by attribute */
export const checkVariable = (variable: Variable): void => {
  const found: Problems = {
    key: keyProblems(variable.key),
    value: valueProblems(variable),
    environment_scope: scopeProblems(variable),
  };
  const problems = Object.entries(found).filter(([, texts]) => texts.length > 0);
  if (problems.length > 0) throw invalid(Object.fromEntries(problems));
};

/** Whether a variable of this scope is for jobs of the environment; null: a job without any. */
export const scopeMatches = (scope: string, environment: string | null): boolean =>
  scope === '*' || (environment !== null && matchesWildcard(scope, environment));
