import type { tokenScopes } from '../tokens/rules.ts';

/** What each scope is good for, as a person is told. */
export const scopeMeanings: { [S in (typeof tokenScopes)[number]]: string } = {
  api: 'Do everything by the API that you may do, in your name',
  read_api: 'Read everything by the API that you may read',
  read_user: 'Read your account: name, e-mail address, profile',
  sudo: 'Act by the API as any user of this service',
  read_repository: 'Read your repositories',
  write_repository: 'Read and write your repositories',
  create_runner: 'Create runners where you may',
};

export const meaningOf = (scope: string): string =>
  scope in scopeMeanings ? scopeMeanings[scope as keyof typeof scopeMeanings] : scope;
