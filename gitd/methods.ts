/** Every method that a storage answers; those in `reading` also of a repository that nothing was written to yet. */
import type { MethodHandlers } from './context.ts';
import { compareAcross } from './ops/compare_across.ts';
import { diffFiles, diffRaw } from './diff/files.ts';
import { cherryPick, revert } from './ops/pick.ts';
import { bring } from './ops/bring.ts';
import { commitActions } from './ops/commit_actions.ts';
import { fork } from './ops/fork.ts';
import { checkMerge, commitMerge, squash } from './ops/merge.ts';
import { rebase } from './ops/rebase.ts';
import { createTag } from './ops/tag.ts';
import { blameFile } from './read/blame.ts';
import { listContributors } from './read/contributors.ts';
import { countStats } from './read/stats.ts';
import { refsContaining } from './refs/containing.ts';
import { readBlobAt, getBlob } from './read/blobs.ts';
import { getCommits, getMergeBase, isAncestor, mergedCommits } from './read/commits.ts';
import { reading } from './read/missing.ts';
import { listTree } from './read/tree.ts';
import { listCommits } from './read/walk.ts';
import { getRefs } from './refs/get.ts';
import { listRefs } from './refs/list.ts';
import { resolveRevision } from './refs/resolve.ts';
import { updateRefsMethod } from './refs/update.ts';
import { claim, inspect } from './storage/claim.ts';
import { createRepository } from './storage/create.ts';
import { hello } from './storage/hello.ts';
import { maintainRepository } from './storage/housekeeping.ts';
import { checkRepository, repositoryExists, repositoryStatistics } from './storage/look.ts';
import { removeRepository } from './storage/remove.ts';

export const methods: MethodHandlers = {
  'storage.hello': hello,
  'storage.inspect': inspect,
  'storage.claim': claim,
  'repository.create': createRepository,
  'repository.exists': repositoryExists,
  'repository.remove': removeRepository,
  'repository.statistics': reading(repositoryStatistics, () => ({ size: 0, empty: true })),
  'repository.check': reading(checkRepository, () => ({ problems: [] })),
  'repository.maintain': reading(maintainRepository, () => ({ removed: [] })),

  'refs.list': reading(listRefs, () => ({ refs: [], total: 0 })),
  'refs.get': reading(getRefs, ({ names }) => ({ refs: names.map(() => null) })),
  'refs.update': updateRefsMethod,
  'revision.resolve': reading(resolveRevision, () => null),

  'commits.get': reading(getCommits, ({ ids }) => ({ commits: ids.map(() => null) })),
  'commits.list': listCommits,
  'commits.merged': reading(mergedCommits, ({ ids }) => ({ merged: ids.map(() => false) })),
  'commits.merge_base': getMergeBase,
  'commits.is_ancestor': reading(isAncestor, () => ({ is: false })),
  'tree.list': reading(listTree, () => null),
  'blob.at': reading(readBlobAt, () => null),
  'blob.get': reading(getBlob, () => null),
  'diff.files': diffFiles,
  'diff.raw': diffRaw,
  'commits.stats': countStats,
  'commits.refs': refsContaining,
  'blame.file': reading(blameFile, () => null),
  'contributors.list': reading(listContributors, () => ({ contributors: [] })),

  'repository.fork': fork,
  'compare.across': compareAcross,
  'repository.bring': bring,
  'merge.check': checkMerge,
  'merge.commit': commitMerge,
  'merge.squash': squash,
  'merge.rebase': rebase,
  'commit.cherry_pick': cherryPick,
  'commit.revert': revert,
  'commit.actions': commitActions,
  'tag.create': createTag,
};
