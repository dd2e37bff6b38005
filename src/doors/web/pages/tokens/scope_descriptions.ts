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

/** Describes what each scope permits, to administrators who create a token of another user. */
export const scopeMeaningsForOthers: typeof scopeMeanings = {
  api: 'Full access to the API as the user',
  read_api: 'Read access to the API as the user',
  read_user: 'Read the account: name, e-mail address, profile',
  sudo: 'Act as any user of this service through the API',
  read_repository: 'Read the repositories of the user',
  write_repository: 'Read and write the repositories of the user',
  create_runner: 'Create runners',
};

export const meaningOf = (scope: string): string =>
  scope in scopeMeanings ? scopeMeanings[scope as keyof typeof scopeMeanings] : scope;
