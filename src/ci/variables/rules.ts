/** Validation of CI variables. Pure. */
import type { Selectable } from 'kysely';
import type { VariablesTable } from '../../platform/db/schema/ci.ts';
import { type Problems, invalid } from '../../platform/errors.ts';
import { matchesWildcard } from '../../platform/wildcard.ts';

const maxKeyLength = 255;
const maxValueBytes = 10_000;

export type Variable = Omit<
  Selectable<VariablesTable>,
  'id' | 'source_type' | 'source_id' | 'sealed_value' | 'created_at' | 'updated_at'
> & { value: string };

/** A value that can be masked in logs: at least eight characters that no shell changes, without blanks. */
const maskable = /^[a-zA-Z0-9_+=/@:.~-]{8,}$/;

const findKeyProblems = (key: string): string[] => {
  if (key === '') return ["can't be blank"];
  if (!/^[a-zA-Z0-9_]+$/.test(key)) return ["can contain only letters, digits and '_'."];
  return key.length > maxKeyLength ? [`is too long (maximum is ${maxKeyLength} characters)`] : [];
};

const findValueProblems = ({ value, masked, raw }: Variable): string[] => {
  if (Buffer.byteLength(value) > maxValueBytes)
    return [`is too long. The maximum is ${maxValueBytes} bytes.`];
  const isMaskable = raw === 1 ? /^\S{8,}$/.test(value) : maskable.test(value);
  return masked === 1 && !isMaskable ? ['is invalid'] : [];
};

const findScopeProblems = ({ environment_scope: scope }: Variable): string[] => {
  if (scope === '') return ["can't be blank"];
  return /^[a-zA-Z0-9_/\\$.*{} -]+$/.test(scope)
    ? []
    : ["can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces"];
};

/** @throws Failure 400 by attribute */
export const checkVariable = (variable: Variable): void => {
  const problemsByField: Problems = {
    key: findKeyProblems(variable.key),
    value: findValueProblems(variable),
    environment_scope: findScopeProblems(variable),
  };
  const problems = Object.entries(problemsByField).filter(([, texts]) => texts.length > 0);
  if (problems.length > 0) throw invalid(Object.fromEntries(problems));
};

/** Returns whether a scope matches a job's environment; null if the job has none. */
export const matchesScope = (scope: string, environment: string | null): boolean =>
  scope === '*' || (environment !== null && matchesWildcard(scope, environment));
