/** The one environment and configuration that every git of ours runs with. Nothing of our own environment is in it. */
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/** Where the programs of this machine lie; git's own folder first, for a git that was put elsewhere. */
export const findGit = (path: string = process.env['PATH'] ?? ''): string => {
  const folders = [...path.split(delimiter), '/usr/bin', '/bin', '/usr/local/bin'];
  const found = folders.filter((folder) => folder.startsWith('/')).map((folder) => join(folder, 'git'));
  return found.find((file) => existsSync(file)) ?? 'git';
};

/** Refs that are ours: nobody pushes to them. */
const internalRefs = [
  'refs/merge-requests',
  'refs/keep-around',
  'refs/pipelines',
  'refs/environments',
  'refs/tmp',
  'refs/replace',
];

/** Refs that not even a fetch sees. */
const secretRefs = ['refs/keep-around', 'refs/tmp'];

/** What else is hidden from one whom git serves. */
export type Hidden = { requests: boolean; pipelines: boolean };

/** Whoever is not said to see the refs of pipelines does not. */
export const hiddenFor = (params: { hide_requests?: boolean; pipelines?: boolean }): Hidden => ({
  requests: params.hide_requests === true,
  pipelines: params.pipelines !== true,
});

/** As part of the key of what is kept of git's answers. */
export const hiddenKey = ({ requests, pipelines }: Hidden): string => `${requests} ${pipelines}`;

/** For a run that serves such a one. */
export const hidingRefs = ({ requests, pipelines }: Hidden): readonly (readonly [string, string])[] => [
  ...(requests ? [['uploadpack.hideRefs', 'refs/merge-requests'] as const] : []),
  ...(pipelines ? [['uploadpack.hideRefs', 'refs/pipelines'] as const] : []),
];

/** Each with the reason where it does not go without saying. */
const fixedConfig: readonly (readonly [key: string, value: string])[] = [
  // Git alone syncs neither loose objects nor refs: an answered push would be lost in a power cut.
  ['core.fsync', 'all'],
  ['core.fsyncMethod', 'fsync'],
  // One push of refs/replace/<sha> could swap a commit's content, or break the repository.
  ['core.useReplaceRefs', 'false'],
  ['safe.directory', '*'],
  ['transfer.fsckObjects', 'true'],
  // Histories of old that are harmless.
  ['receive.fsck.badTimezone', 'ignore'],
  ['receive.fsck.missingSpaceBeforeDate', 'ignore'],
  ['receive.fsck.zeroPaddedFilemode', 'ignore'],
  ['fetch.fsck.badTimezone', 'ignore'],
  ['fetch.fsck.missingSpaceBeforeDate', 'ignore'],
  ['fetch.fsck.zeroPaddedFilemode', 'ignore'],
  ...internalRefs.map((ref) => ['receive.hideRefs', ref] as const),
  ...secretRefs.map((ref) => ['uploadpack.hideRefs', ref] as const),
  // No `.have` lines: they tell of objects that others have.
  ['core.alternateRefsCommand', 'exit 0 #'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['receive.autogc', 'false'],
  ['receive.updateServerInfo', 'false'],
  ['receive.advertisePushOptions', 'true'],
  ['core.filesRefLockTimeout', '1000'],
  ['core.packedRefsTimeout', '10000'],
  // Bounds of memory: no diff and no delta of huge blobs.
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
  // merge-tree of 2.39 heeds only this, not core.useReplaceRefs.
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_NO_LAZY_FETCH: '1',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_OPTIONAL_LOCKS: '0',
  // No protocol at all; the fetch within a storage adds `file`.
  GIT_ALLOW_PROTOCOL: '',
} as const;

/** What one run may add. */
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

/** `GIT_CONFIG_COUNT` and its pairs: of the command's scope, where `safe.directory` counts, too. */
const configVariables = (config: readonly (readonly [string, string])[]): Record<string, string> => {
  const variables: Record<string, string> = { GIT_CONFIG_COUNT: String(config.length) };
  for (const [index, [key, value]] of config.entries()) {
    variables[`GIT_CONFIG_KEY_${index}`] = key;
    variables[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return variables;
};

/** Makes environments: the fixed one is put together once. */
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
