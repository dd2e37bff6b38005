/** Seals the CI variables of push options: their values are secrets. */
import type { Platform } from '../../../core/platform.ts';
import { seal, unseal } from '../../../core/access/credentials/encrypt_secrets.ts';

const purpose = 'push option';
const variable = 'ci.variable=';

/** Push options as stored: options with variables are sealed. */
export type StoredOptions = { push_options: string[]; sealed_options: string | null };

export const isVariableOption = (option: string): boolean => option.startsWith(variable);

/** Returns `KEY=value` of `ci.variable=KEY=value`. */
export const getAssignment = (option: string): string => option.slice(variable.length);

export const sealOptions = (
  { secrets }: Pick<Platform, 'secrets'>,
  options: readonly string[],
): StoredOptions => {
  const secret = options.filter(isVariableOption);
  return {
    push_options: options.filter((option) => !isVariableOption(option)),
    sealed_options:
      secret.length === 0 ? null : seal(secrets.encryption_key, purpose, JSON.stringify(secret)),
  };
};

export const unsealOptions = ({ secrets }: Pick<Platform, 'secrets'>, sealed: string | null): string[] =>
  sealed === null ? [] : (JSON.parse(unseal(secrets.encryption_key, purpose, sealed)) as string[]);
