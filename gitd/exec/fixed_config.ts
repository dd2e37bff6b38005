import { internalRefs, secretRefs } from './hidden_refs.ts';

export type GitConfig = readonly (readonly [key: string, value: string])[];

/** Fixed configuration of every run, with reasons where they are not obvious. */
export const fixedConfig: GitConfig = [
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
  // `git fsck` must not report as damage what a push may contain.
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
