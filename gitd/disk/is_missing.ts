import { hasCode } from '../git_error.ts';

/** Returns whether an error of the file system says that the file or folder does not exist. */
export const isMissing = (error: unknown): boolean => hasCode(error, 'ENOENT', 'ENOTDIR');
