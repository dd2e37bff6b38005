/** How much of git one may have: limits of pushes, of repositories and of fetches. */
import { type Field, readLimit, readMegabytes } from './config_values.ts';

export type GitConfig = {
  /** Megabytes of one push, of one file in it, and of one project's repository; 0: any. */
  push_limit: number;
  file_limit: number;
  repository_limit: number;
  /** Fetches that one user, or one address that names nobody, has at once; 0: any. */
  fetch_limit: number;
};

export const gitFields: { [N in keyof GitConfig]: Field<GitConfig[N]> } = {
  push_limit: {
    variable: 'GANTRY_PUSH_LIMIT',
    default: '5120',
    meaning: 'megabytes, packed, that one push may send; 0: no limit',
    read: readMegabytes,
  },
  file_limit: {
    variable: 'GANTRY_FILE_LIMIT',
    default: '0',
    meaning: 'megabytes of the largest file that may be pushed or committed; 0: no limit',
    read: readMegabytes,
  },
  repository_limit: {
    variable: 'GANTRY_REPOSITORY_LIMIT',
    default: '0',
    meaning: 'megabytes on disk that the repository of one project may have; 0: no limit',
    read: readMegabytes,
  },
  fetch_limit: {
    variable: 'GANTRY_FETCH_LIMIT',
    default: '20',
    meaning: 'fetches and clones of one user, or of one address that names nobody, at once; 0: no limit',
    read: readLimit,
  },
};
