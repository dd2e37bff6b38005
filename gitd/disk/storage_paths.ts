/** Paths below a storage's root. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError } from '../git_error.ts';

const repositoryPattern = /^@hashed\/([0-9a-f]{2})\/([0-9a-f]{2})\/\1\2[0-9a-f]{60}\.git$/;

/** Checks the path of a repository and makes it absolute. @throws GitError `invalid` */
export const resolveRepositoryPath = (root: string, repository: unknown): string => {
  if (typeof repository !== 'string' || !repositoryPattern.test(repository))
    throw new GitError('invalid', 'not a repository path');
  return join(root, repository);
};

/**
 * Folder of removed repositories until the janitor deletes them: a rename is instant, deleting a large tree is not.
 */
export const getDeletedFolder = (root: string): string => join(root, '+deleted');

/** Folder of repositories under construction. A rename puts each in its place, whole. */
export const getConstructionFolder = (root: string): string => join(root, '+making');

export const repositoryExists = async (dir: string): Promise<boolean> => {
  try {
    return (await stat(join(dir, 'HEAD'))).isFile();
  } catch {
    return false;
  }
};
