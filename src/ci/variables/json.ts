import type { Static } from 'typebox';
import { bool, nullable, object, string } from '../../platform/http/schema.ts';
import type { Variable } from './rules.ts';

export const variableShape = object({
  variable_type: string,
  key: string,
  value: nullable(string),
  protected: bool,
  masked: bool,
  hidden: bool,
  raw: bool,
  environment_scope: string,
  description: nullable(string),
});

/** Converts a variable. The value of a hidden variable is null. */
export const variableJson = (variable: Variable): Static<typeof variableShape> => ({
  variable_type: variable.variable_type,
  key: variable.key,
  value: variable.hidden === 1 ? null : variable.value,
  protected: variable.protected === 1,
  masked: variable.masked === 1,
  hidden: variable.hidden === 1,
  raw: variable.raw === 1,
  environment_scope: variable.environment_scope,
  description: variable.description,
});
