/**
 * Handlers of all methods. `answerWhenEmpty` wraps handlers that also answer for a repository that was never written
 * to.
 */
import type { MethodHandlers } from './handler_types.ts';
import { compareAcross } from './ops/compare_across.ts';
import { diffFiles, diffRaw } from './diff/diff_handlers.ts';
import { cherryPick, revert } from './ops/cherry_pick_and_revert.ts';
import { fetchCommit } from './ops/fetch_commit.ts';
import { commitActions } from './ops/commit_file_actions.ts';
import { forkRepository } from './ops/fork.ts';
import { checkMerge, commitMerge, squash } from './ops/merge.ts';
import { listConflicts } from './ops/merge_conflicts.ts';
import { resolveConflicts } from './ops/resolve_conflicts.ts';
import { rebase } from './ops/rebase.ts';
import { createTagObject } from './ops/create_tag.ts';
import { blameFile } from './read/blame.ts';
import { listContributors } from './read/contributors.ts';
import { countStats } from './diff/commit_stats.ts';
import { refsContaining } from './refs/refs_containing.ts';
import { readAttributes } from './read/read_attributes.ts';
import { readBlobAt, getBlob, readBlobSizes } from './read/blobs.ts';
import { getMergeBase, isAncestor, mergedCommits } from './commits/ancestry.ts';
import { getCommits } from './commits/read_commits.ts';
import { readCommitSignature, readTagSignature } from './commits/read_signature.ts';
import { answerWhenEmpty } from './storage/require_repository.ts';
import { countLanguages } from './read/languages/count_languages.ts';
import { findFilesWithText } from './read/find_files_with_text.ts';
import { lastCommits } from './read/last_commits.ts';
import { listTree } from './read/list_tree.ts';
import { countAheadBehind } from './commits/ahead_behind.ts';
import { listCommits } from './commits/list_commits.ts';
import { getRefs } from './refs/read_refs.ts';
import { readTag } from './refs/read_tag.ts';
import { listRefNames, listRefs } from './refs/list_refs.ts';
import { dumpRefs, restoreRefs } from './refs/restore_refs.ts';
import { findCommits } from './refs/find_commits.ts';
import { resolveRevision } from './refs/resolve_revision.ts';
import { updateRefsMethod } from './refs/update_refs.ts';
import { claim, inspect } from './storage/claim_storage.ts';
import { createRepository } from './storage/create_repository.ts';
import { hello } from './storage/answer_hello.ts';
import { maintainRepository } from './maintenance/housekeeping.ts';
import { checkRepository, checkExistence, repositoryStatistics } from './maintenance/inspect_repository.ts';
import { removeRepository } from './maintenance/remove_repository.ts';

export const methods: MethodHandlers = {
  'storage.hello': hello,
  'storage.inspect': inspect,
  'storage.claim': claim,
  'repository.create': createRepository,
  'repository.exists': checkExistence,
  'repository.remove': removeRepository,
  'repository.statistics': answerWhenEmpty(repositoryStatistics, () => ({ size: 0, empty: true })),
  'repository.check': answerWhenEmpty(checkRepository, () => ({ problems: [] })),
  'repository.maintain': answerWhenEmpty(maintainRepository, () => ({ removed: [] })),

  'refs.list': answerWhenEmpty(listRefs, () => ({ refs: [], total: 0 })),
  'refs.names': answerWhenEmpty(listRefNames, () => ({ names: [], total: 0 })),
  'refs.dump': answerWhenEmpty(dumpRefs, () => ({})),
  'refs.restore': restoreRefs,
  'refs.get': answerWhenEmpty(getRefs, ({ names }) => ({ refs: names.map(() => null) })),
  'refs.update': updateRefsMethod,
  'revision.resolve': answerWhenEmpty(resolveRevision, () => null),

  'commits.get': answerWhenEmpty(getCommits, ({ ids }) => ({ commits: ids.map(() => null) })),
  'commits.find': answerWhenEmpty(findCommits, ({ ids }) => ({ commits: ids.map(() => null) })),
  'commits.list': listCommits,
  'commits.merged': answerWhenEmpty(mergedCommits, ({ ids }) => ({ merged: ids.map(() => false) })),
  'commits.ahead_behind': answerWhenEmpty(countAheadBehind, ({ ids }) => ({ counts: ids.map(() => null) })),
  'commits.merge_base': getMergeBase,
  'commits.is_ancestor': answerWhenEmpty(isAncestor, () => ({ is: false })),
  'tree.list': answerWhenEmpty(listTree, () => null),
  'tree.last_commits': lastCommits,
  'tree.grep': answerWhenEmpty(findFilesWithText, () => ({ paths: [] })),
  'tree.attributes': answerWhenEmpty(readAttributes, ({ folders }) => ({ files: [], read: folders.length })),
  'tree.languages': answerWhenEmpty(countLanguages, () => ({ languages: [] })),
  'blob.at': answerWhenEmpty(readBlobAt, () => null),
  'blob.get': answerWhenEmpty(getBlob, () => null),
  'blob.sizes': answerWhenEmpty(readBlobSizes, ({ ids }) => ({ sizes: ids.map(() => null) })),
  'diff.files': diffFiles,
  'diff.raw': diffRaw,
  'commits.signature': answerWhenEmpty(readCommitSignature, () => null),
  'tags.get': answerWhenEmpty(readTag, () => null),
  'tags.signature': answerWhenEmpty(readTagSignature, () => null),
  'commits.stats': countStats,
  'commits.refs': refsContaining,
  'blame.file': answerWhenEmpty(blameFile, () => null),
  'contributors.list': answerWhenEmpty(listContributors, () => ({ contributors: [] })),

  'repository.fork': forkRepository,
  'compare.across': compareAcross,
  'repository.fetch_commit': fetchCommit,
  'merge.check': checkMerge,
  'merge.commit': commitMerge,
  'merge.conflicts': listConflicts,
  'merge.resolve': resolveConflicts,
  'merge.squash': squash,
  'merge.rebase': rebase,
  'commit.cherry_pick': cherryPick,
  'commit.revert': revert,
  'commit.actions': commitActions,
  'tag.create': createTagObject,
};
