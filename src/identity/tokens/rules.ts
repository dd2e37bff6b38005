import type { Problems } from '../../platform/errors.ts';

export const tokenScopes = [
  'api',
  'read_api',
  'read_user',
  'sudo',
  'read_repository',
  'write_repository',
  'create_runner',
] as const;

const maxNameLength = 255;

const scopesProblem = (scopes: readonly string[], admin: boolean): string | null => {
  if (scopes.length === 0) return "can't be blank";
  // Only administrators may act as other users.
  const available: readonly string[] = tokenScopes.filter((scope) => admin || scope !== 'sudo');
  return scopes.every((scope) => available.includes(scope)) ? null : 'can only contain available scopes';
};

const nameProblem = (name: string): string | null => {
  if (name.trim() === '') return "can't be blank";
  return [...name].length > maxNameLength ? `is too long (maximum is ${maxNameLength} characters)` : null;
};

/** Returns the errors of a new token. `admin`: whether its user is an administrator. */
export const tokenProblems = (
  token: { name: string; scopes: readonly string[] },
  admin: boolean,
): Problems => {
  const name = nameProblem(token.name);
  const scopes = scopesProblem(token.scopes, admin);
  return { ...(name !== null && { name: [name] }), ...(scopes !== null && { scopes: [scopes] }) };
};
