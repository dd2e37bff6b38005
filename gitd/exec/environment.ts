/** Builds the environment and configuration of every git process. Nothing of our own environment is passed on. */
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/** Finds git on the search path, then in the usual folders. */
export const findGit = (path: string = process.env['PATH'] ?? ''): string => {
  const folders = [...path.split(delimiter), '/usr/bin', '/bin', '/usr/local/bin'];
  const candidates = folders.filter((folder) => folder.startsWith('/')).map((folder) => join(folder, 'git'));
  return candidates.find((file) => existsSync(file)) ?? 'git';
};

/** Internal refs: no push may change them. */
const internalRefs = [
  'refs/merge-requests',
  'refs/keep-around',
  'refs/pipelines',
  'refs/environments',
  'refs/tmp',
  'refs/replace',
];

/** Refs that no fetch may read. */
const secretRefs = ['refs/keep-around', 'refs/tmp'];

/** Refs hidden from one client in addition to the fixed hidden refs. */
export type Hidden = { requests: boolean; pipelines: boolean };

/** Hides pipeline refs unless the caller may see them explicitly. */
export const hiddenFor = (params: { hide_requests?: boolean; pipelines?: boolean }): Hidden => ({
  requests: params.hide_requests === true,
  pipelines: params.pipelines !== true,
});

/** Formats hidden refs as part of a cache key. */
export const hiddenKey = ({ requests, pipelines }: Hidden): string => `${requests} ${pipelines}`;

/** The git configuration that hides these refs. */
export const hidingRefs = ({ requests, pipelines }: Hidden): readonly (readonly [string, string])[] => [
  ...(requests ? [['uploadpack.hideRefs', 'refs/merge-requests'] as const] : []),
  ...(pipelines ? [['uploadpack.hideRefs', 'refs/pipelines'] as const] : []),
];

/** Fixed configuration of every run, with reasons where they are not obvious. */
const fixedConfig: readonly (readonly [key: string, value: string])[] = [
  // By default git syncs neither loose objects nor refs: a power cut would lose an acknowledged push.
  ['core.fsync', 'all'],
  ['core.fsyncMethod', 'fsync'],
  // One push of refs/replace/<sha> could swap a commit's content, or break the repository.
  ['core.useReplaceRefs', 'false'],
  ['safe.directory', '*'],
  ['transfer.fsckObjects', 'true'],
  // Harmless flaws of old histories.
  ['receive.fsck.badTimezone', 'ignore'],
  ['receive.fsck.missingSpaceBeforeDate', 'ignore'],
  ['receive.fsck.zeroPaddedFilemode', 'ignore'],
  ['fetch.fsck.badTimezone', 'ignore'],
  ['fetch.fsck.missingSpaceBeforeDate', 'ignore'],
  ['fetch.fsck.zeroPaddedFilemode', 'ignore'],
  // What a push may bring is no damage either.
  ['fsck.badTimezone', 'ignore'],
  ['fsck.missingSpaceBeforeDate', 'ignore'],
  ['fsck.zeroPaddedFilemode', 'ignore'],
  ...internalRefs.map((ref) => ['receive.hideRefs', ref] as const),
  ...secretRefs.map((ref) => ['uploadpack.hideRefs', ref] as const),
  // No `.have` lines: they reveal objects of other repositories.
  ['core.alternateRefsCommand', 'exit 0 #'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['receive.autogc', 'false'],
  ['receive.updateServerInfo', 'false'],
  ['receive.advertisePushOptions', 'true'],
  ['core.filesRefLockTimeout', '1000'],
  ['core.packedRefsTimeout', '10000'],
  // Limits memory: no diffs or deltas of huge blobs.
  ['core.bigFileThreshold', '50m'],
  ['core.deltaBaseCacheLimit', '32m'],
  ['pack.windowMemory', '100m'],
  ['pack.threads', '2'],
  ['pack.writeReverseIndex', 'true'],
  ['repack.writeBitmaps', 'false'],
  ['uploadpack.allowFilter', 'true'],
  ['uploadpackfilter.allow', 'false'],
  ['uploadpackfilter.blob:none.allow', 'true'],
  ['uploadpackfilter.blob:limit.allow', 'true'],
  ['uploadpackfilter.tree.allow', 'true'],
  ['uploadpackfilter.tree.maxDepth', '1'],
  ['protocol.allow', 'never'],
  ['core.protectHFS', 'true'],
  ['core.protectNTFS', 'true'],
  ['core.quotePath', 'false'],
  ['core.attributesFile', '/dev/null'],
  ['core.hooksPath', '/dev/null'],
  ['core.logAllRefUpdates', 'false'],
  ['diff.renames', 'true'],
  ['diff.renameLimit', '1000'],
  ['merge.renameLimit', '1000'],
  ['merge.conflictStyle', 'merge'],
  ['init.templateDir', ''],
  ['init.defaultBranch', 'main'],
  ['http.followRedirects', 'false'],
  ['user.name', 'Gantry'],
  ['user.email', 'gantry@localhost'],
  ['user.useConfigOnly', 'true'],
];

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

/** Builds `GIT_CONFIG_COUNT` and its pairs: command scope, where `safe.directory` is honoured. */
const configVariables = (config: readonly (readonly [string, string])[]): Record<string, string> => {
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
  return (
    variables: RunVariables = {},
    config: readonly (readonly [string, string])[] = [],
  ): Record<string, string> => ({
    ...fixed,
    ...(config.length > 0 && configVariables([...fixedConfig, ...config])),
    ...variables,
  });
};
