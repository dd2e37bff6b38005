import type { tokenScopes } from '../../../../identity/tokens/rules.ts';

/** Describes what each scope permits. */
export const scopeMeanings: { [S in (typeof tokenScopes)[number]]: string } = {
  api: 'Full access to the API on your behalf',
  read_api: 'Read access to the API on your behalf',
  read_user: 'Read your account: name, e-mail address, profile',
  sudo: 'Act as any user of this service through the API',
  read_repository: 'Read your repositories',
  write_repository: 'Read and write your repositories',
  create_runner: 'Create runners',
};

export const meaningOf = (scope: string): string =>
  scope in scopeMeanings ? scopeMeanings[scope as keyof typeof scopeMeanings] : scope;
