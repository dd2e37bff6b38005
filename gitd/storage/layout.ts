/** Where things lie below a storage's root. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError } from '../failure.ts';

const repositoryPattern = /^@hashed\/([0-9a-f]{2})\/([0-9a-f]{2})\/\1\2[0-9a-f]{60}\.git$/;

/** @throws GitError `invalid` for a path that is no repository's */
export const dirOf = (root: string, repository: unknown): string => {
  if (typeof repository !== 'string' || !repositoryPattern.test(repository))
    throw new GitError('invalid', 'the path is not one of a repository');
  return join(root, repository);
};

/** What was removed waits here until the janitor comes: a rename is at once, the removal of a large tree is not. */
export const deletedFolder = (root: string): string => join(root, '+deleted');

/** Of repositories that are being made: a rename puts them in their place, whole. */
export const makingFolder = (root: string): string => join(root, '+making');

export const isThere = async (dir: string): Promise<boolean> => {
  try {
    return (await stat(join(dir, 'HEAD'))).isFile();
  } catch {
    return false;
  }
};
