/** Cherry-picks and reverts commits. */
import type { Answer, Context } from '../handler_types.ts';
import { countDifferingPaths } from '../diff/count_differing_paths.ts';
import { buildCommit } from '../odb/raw_commit.ts';
import { withQuarantine } from '../odb/quarantine.ts';
import type { Methods } from '../protocol.ts';
import { emptyTree, type Oid } from '../protocol_records.ts';
import { applyChange, type Change } from './merge_tree.ts';
import { keepObjects } from '../odb/flush_objects.ts';
import { readRawCommit } from '../pool/read_object.ts';

type CommitChangeResult = Methods['commit.cherry_pick']['result'];

/** A commit changes its first parent: of a merge, the branch that was merged into. */
const getFirstParent = (commit: { parents: Oid[] }): Oid | null => commit.parents[0] ?? null;

const commitChange = async (
  context: Context,
  change: Change,
  params: Methods['commit.cherry_pick']['params'] & { changedTree: Oid },
): Promise<CommitChangeResult> => {
  await countDifferingPaths(context, change.onto.tree, params.changedTree);
  return withQuarantine(context.dir, true, async (quarantine) => {
    const { tree, clean, scraps } = await applyChange(context, quarantine, change);
    if (!clean) return 'conflict';
    if (tree === change.onto.tree) return 'empty';
    const { onto, author, committer, message } = params;
    const commit = buildCommit({ tree, parents: [onto], author, committer, message });
    const id = quarantine.writer.add('commit', commit);
    await keepObjects(quarantine, scraps);
    return { id };
  });
};

export const cherryPick = async (
  params: Methods['commit.cherry_pick']['params'],
  context: Context,
): Promise<Answer<'commit.cherry_pick'>> => {
  const commit = await readRawCommit(context, params.commit);
  const onto = await readRawCommit(context, params.onto);
  const change: Change = { onto, base: getFirstParent(commit), end: { commit: params.commit } };
  return { result: await commitChange(context, change, { ...params, changedTree: commit.tree }) };
};

/** Commits the change from the tree of a commit back to the tree of its parent. */
export const revert = async (
  params: Methods['commit.revert']['params'],
  context: Context,
): Promise<Answer<'commit.revert'>> => {
  const commit = await readRawCommit(context, params.commit);
  const onto = await readRawCommit(context, params.onto);
  const parent = getFirstParent(commit);
  const tree = parent === null ? emptyTree : (await readRawCommit(context, parent)).tree;
  const change: Change = { onto, base: params.commit, end: { tree } };
  return { result: await commitChange(context, change, { ...params, changedTree: commit.tree }) };
};
