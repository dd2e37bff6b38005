/** The options of a push about pipelines. Values of variables are secrets: they are stored sealed. */
import type { Platform } from '../access/call.ts';
import { seal, unseal } from '../access/seal.ts';

const purpose = 'push option';
const variable = 'ci.variable=';

/** Options of a push as they are stored: those that carry values are sealed. */
export type StoredOptions = { push_options: string[]; sealed_options: string | null };

export const isVariable = (option: string): boolean => option.startsWith(variable);

/** `KEY=value` of `ci.variable=KEY=value`. */
export const assignmentIn = (option: string): string => option.slice(variable.length);

export const sealOptions = (
  { secrets }: Pick<Platform, 'secrets'>,
  options: readonly string[],
): StoredOptions => {
  const secret = options.filter(isVariable);
  return {
    push_options: options.filter((option) => !isVariable(option)),
    sealed_options:
      secret.length === 0 ? null : seal(secrets.encryption_key, purpose, JSON.stringify(secret)),
  };
};

export const openOptions = ({ secrets }: Pick<Platform, 'secrets'>, sealed: string | null): string[] =>
  sealed === null ? [] : (JSON.parse(unseal(secrets.encryption_key, purpose, sealed)) as string[]);
