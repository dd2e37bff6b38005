/** Settings that limit pushes, repository sizes, fetches and imports. */
import { type Field, readCount, readLimit, readMegabytes } from './parse_values.ts';

export type GitConfig = {
  /** Maximum megabytes of a push, of one file in a push, and of a repository; 0: unlimited. */
  push_limit: number;
  file_limit: number;
  repository_limit: number;
  /** Maximum concurrent fetches of one user, or of one address without sign-in; 0: unlimited. */
  fetch_limit: number;
  /** Maximum minutes of an import, and megabytes that it receives; 0: unlimited megabytes. */
  import_timeout: number;
  import_limit: number;
};

export const gitFields: { [N in keyof GitConfig]: Field<GitConfig[N]> } = {
  push_limit: {
    variable: 'GANTRY_PUSH_LIMIT',
    default: '5120',
    meaning: 'maximum megabytes of one push, packed; 0: no limit',
    read: readMegabytes,
  },
  file_limit: {
    variable: 'GANTRY_FILE_LIMIT',
    default: '0',
    meaning: 'maximum megabytes of a file in a push or commit; 0: no limit',
    read: readMegabytes,
  },
  repository_limit: {
    variable: 'GANTRY_REPOSITORY_LIMIT',
    default: '0',
    meaning: "maximum megabytes on disk of a project's repository; 0: no limit",
    read: readMegabytes,
  },
  fetch_limit: {
    variable: 'GANTRY_FETCH_LIMIT',
    default: '20',
    meaning:
      'maximum concurrent fetches and clones of one user, or of one address without sign-in; 0: no limit',
    read: readLimit,
  },
  import_timeout: {
    variable: 'GANTRY_IMPORT_TIMEOUT',
    default: '60',
    meaning: 'maximum minutes of a repository import',
    read: readCount,
  },
  import_limit: {
    variable: 'GANTRY_IMPORT_LIMIT',
    default: '10240',
    meaning: 'maximum megabytes of an imported repository, packed; 0: no limit',
    read: readMegabytes,
  },
};
