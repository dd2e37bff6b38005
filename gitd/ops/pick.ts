/** One commit's change on another place, or taken back. */
import type { Answer, Context } from '../context.ts';
import { countDifferences } from '../diff/size.ts';
import { buildCommit } from '../odb/commit.ts';
import { withQuarantine } from '../odb/quarantine.ts';
import { emptyTree, type Methods, type Oid } from '../protocol.ts';
import { applyChange, type Change } from './merge_tree.ts';
import { keep, readRawCommit } from './objects.ts';

type Picked = Methods['commit.cherry_pick']['result'];

/** Of several parents the first counts: the change is what the merge brought into it. */
const parentOf = (commit: { parents: Oid[] }): Oid | null => commit.parents[0] ?? null;

const commitChange = async (
  context: Context,
  change: Change,
  params: Methods['commit.cherry_pick']['params'] & { changed: Oid },
): Promise<Picked> => {
  await countDifferences(context, change.onto.tree, params.changed);
  return withQuarantine(context.dir, true, async (quarantine) => {
    const { tree, clean, scraps } = await applyChange(context, quarantine, change);
    if (!clean) return 'conflict';
    if (tree === change.onto.tree) return 'empty';
    const { onto, author, committer, message } = params;
    const commit = buildCommit({ tree, parents: [onto], author, committer, message });
    const id = quarantine.writer.add('commit', commit);
    await keep(quarantine, scraps);
    return { id };
  });
};

export const cherryPick = async (
  params: Methods['commit.cherry_pick']['params'],
  context: Context,
): Promise<Answer<'commit.cherry_pick'>> => {
  const commit = await readRawCommit(context, params.commit);
  const onto = await readRawCommit(context, params.onto);
  const change: Change = { onto, base: parentOf(commit), end: { commit: params.commit } };
  return { result: await commitChange(context, change, { ...params, changed: commit.tree }) };
};

/** From the commit's tree back to its parent's. */
export const revert = async (
  params: Methods['commit.revert']['params'],
  context: Context,
): Promise<Answer<'commit.revert'>> => {
  const commit = await readRawCommit(context, params.commit);
  const onto = await readRawCommit(context, params.onto);
  const parent = parentOf(commit);
  const tree = parent === null ? emptyTree : (await readRawCommit(context, parent)).tree;
  const change: Change = { onto, base: params.commit, end: { tree } };
  return { result: await commitChange(context, change, { ...params, changed: commit.tree }) };
};
