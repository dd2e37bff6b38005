/** Checks whether branches merge, and writes merge and squash commits. Moves no ref. */
import type { Answer, Context } from '../handler_types.ts';
import { GitError } from '../git_error.ts';
import { countDifferingPaths } from '../diff/count_differing_paths.ts';
import { buildCommit } from '../odb/raw_commit.ts';
import { withQuarantine, type Quarantine } from '../odb/quarantine.ts';
import type { Methods } from '../protocol.ts';
import type { Oid } from '../protocol_records.ts';
import type { MergeCheck } from '../pool/merge_tree.ts';
import { mergeBase } from '../commits/ancestry.ts';
import { mergeCommits, type Merged } from './merge_tree.ts';
import { flushObjects, keepObjects, makeRepositoryWriter } from '../odb/flush_objects.ts';
import { readRawCommit, requireCommit } from '../pool/read_object.ts';

/** Maximum conflicting paths in an answer. */
const maxConflicts = 1000;

type Params<M extends keyof Methods> = Methods[M]['params'];

const requireBoth = async (context: Context, ours: Oid, theirs: Oid): Promise<void> => {
  const [one, other] = [await readRawCommit(context, ours), await readRawCommit(context, theirs)];
  await countDifferingPaths(context, one.tree, other.tree);
};

/** Checks a merge in a pooled process, in an interactive slot. Null: git does not answer that way. */
const checkInPool = async (
  { dir, pools, exec, signal }: Context,
  sides: [Oid, Oid],
): Promise<MergeCheck | null> => {
  const releaseSlot = await exec.takeSlot({ slot: 'interactive', signal });
  try {
    return await pools.mergeTree.check(dir, sides, signal);
  } finally {
    releaseSlot();
  }
};

/** Checks whether two commits merge; writes nothing to the repository. */
export const checkMerge = async (
  { ours, theirs }: Params<'merge.check'>,
  context: Context,
): Promise<Answer<'merge.check'>> => {
  await requireBoth(context, ours, theirs);
  const checkAlone = async (): Promise<MergeCheck> => {
    const merge = async (quarantine: Quarantine): Promise<Merged> =>
      mergeCommits(context, quarantine, [ours, theirs], false);
    return withQuarantine(context.dir, false, merge);
  };
  const { clean, conflicts } = (await checkInPool(context, [ours, theirs])) ?? (await checkAlone());
  return { result: { clean, conflicts: conflicts.slice(0, maxConflicts) } };
};

export const commitMerge = async (
  { ours, theirs, message, author, committer }: Params<'merge.commit'>,
  context: Context,
): Promise<Answer<'merge.commit'>> => {
  await requireBoth(context, ours, theirs);
  const id = await withQuarantine(context.dir, true, async (quarantine) => {
    const { tree, clean } = await mergeCommits(context, quarantine, [ours, theirs]);
    if (!clean) return null;
    const commit = buildCommit({ tree, parents: [ours, theirs], author, committer, message });
    const id = quarantine.writer.add('commit', commit);
    await keepObjects(quarantine);
    return id;
  });
  return { result: id === null ? null : { id } };
};

export const squash = async (
  { base, head, message, author, committer }: Params<'merge.squash'>,
  context: Context,
): Promise<Answer<'merge.squash'>> => {
  await requireCommit(context, base);
  const { tree } = await readRawCommit(context, head);
  // With any other parent, the head's tree would revert the changes of others.
  const parent = await mergeBase(context, [base, head]);
  if (parent === null) throw new GitError('invalid', 'the histories have nothing in common');
  const writer = makeRepositoryWriter(context);
  const id = writer.add('commit', buildCommit({ tree, parents: [parent], author, committer, message }));
  await flushObjects(writer);
  return { result: { id } };
};
