/** Builds the environment of every git process. None of gitd's own environment is passed on. */
import { delimiter, dirname } from 'node:path';
import { type GitConfig, fixedConfig } from './fixed_config.ts';

const fixedVariables = {
  HOME: '/nonexistent',
  LC_ALL: 'C',
  TZ: 'UTC',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  // merge-tree of git 2.39 honours only this, not core.useReplaceRefs.
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_NO_LAZY_FETCH: '1',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_OPTIONAL_LOCKS: '0',
  // No protocol at all; the fetch within a storage adds `file`.
  GIT_ALLOW_PROTOCOL: '',
} as const;

/** Variables that one run may add. */
export type RunVariables = Partial<
  Record<
    | 'GIT_ALLOW_PROTOCOL'
    | 'GIT_PROTOCOL'
    | 'GIT_OBJECT_DIRECTORY'
    | 'GIT_ALTERNATE_OBJECT_DIRECTORIES'
    | 'GIT_QUARANTINE_PATH'
    | 'GIT_INDEX_FILE'
    | 'GIT_WORK_TREE',
    string
  >
>;

/** Passes configuration as `GIT_CONFIG_*` variables, whose scope git trusts with `safe.directory`. */
const configVariables = (config: GitConfig): Record<string, string> => {
  const variables: Record<string, string> = { GIT_CONFIG_COUNT: String(config.length) };
  for (const [index, [key, value]] of config.entries()) {
    variables[`GIT_CONFIG_KEY_${index}`] = key;
    variables[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return variables;
};

/** Returns a function that builds the environment of one run; the fixed part is built once. */
export const makeEnvironment = (git: string) => {
  const path = [dirname(git), '/usr/bin', '/bin'].filter((folder) => folder !== '.').join(delimiter);
  const fixed: Record<string, string> = { PATH: path, ...fixedVariables, ...configVariables(fixedConfig) };
  return (variables: RunVariables = {}, config: GitConfig = []): Record<string, string> => ({
    ...fixed,
    ...(config.length > 0 && configVariables([...fixedConfig, ...config])),
    ...variables,
  });
};
