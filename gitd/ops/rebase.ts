/** Rebases a branch, commit by commit. */
import type { Answer, Context } from '../handler_types.ts';
import { flag, symmetric } from '../exec/arguments.ts';
import { GitError } from '../git_error.ts';
import { countDifferingPaths } from '../diff/count_differing_paths.ts';
import { rebuildCommit } from '../odb/raw_commit.ts';
import { withQuarantine, type Quarantine } from '../odb/quarantine.ts';
import type { Methods } from '../protocol.ts';
import type { Oid, Signature } from '../protocol_records.ts';
import { applyChange } from './merge_tree.ts';
import { keepObjects } from '../odb/flush_objects.ts';
import { readRawCommit } from '../pool/read_object.ts';

const maxCommits = 1000;

/** Lists the commits that `onto` lacks, oldest first, without merges and without changes it already has. */
const listCommits = async (context: Context, onto: Oid, head: Oid): Promise<Oid[]> => {
  const flags = [
    flag('--reverse'),
    flag('--topo-order'),
    flag('--no-merges'),
    flag('--right-only'),
    flag('--cherry-pick'),
    flag('--end-of-options'),
  ];
  const { stdout } = await context.exec.run({
    command: 'rev-list',
    args: [...flags, symmetric(onto, head)],
    dir: context.dir,
    slot: 'interactive',
    seconds: 20,
    signal: context.signal,
  });
  const ids = stdout.toString('latin1').split('\n').filter(Boolean);
  if (ids.length > maxCommits) throw new GitError('too_large', `more than ${maxCommits} commits to rebase`);
  return ids;
};

/** State of a rebase: the last commit written so far. */
type Tip = { id: Oid; tree: Oid };

type Rebase = { context: Context; quarantine: Quarantine; committer: Signature; scraps: Set<Oid> };

/** Applies one commit; null on a conflict. */
const putOnto = async (rebase: Rebase, tip: Tip, id: Oid): Promise<Tip | null> => {
  const commit = await readRawCommit(rebase.context, id);
  const base = commit.parents[0] ?? null;
  if (base === tip.id) return { id, tree: commit.tree }; // already on this parent
  const change = { onto: tip, base, end: { commit: id } };
  const { tree, clean, scraps } = await applyChange(rebase.context, rebase.quarantine, change);
  for (const scrap of scraps) rebase.scraps.add(scrap);
  if (!clean) return null;
  // Like `git rebase`: keep commits that were empty before, drop those that become empty.
  if (tree === tip.tree && !(await isEmpty(rebase.context, commit))) return tip;
  const { committer, quarantine } = rebase;
  const rebuilt = rebuildCommit(commit, { tree, parents: [tip.id], committer });
  return { id: quarantine.writer.add('commit', rebuilt), tree };
};

const isEmpty = async (context: Context, commit: { tree: Oid; parents: Oid[] }): Promise<boolean> => {
  const [parent] = commit.parents;
  return parent !== undefined && (await readRawCommit(context, parent)).tree === commit.tree;
};

export const rebase = async (
  { onto, head, committer }: Methods['merge.rebase']['params'],
  context: Context,
): Promise<Answer<'merge.rebase'>> => {
  const { tree } = await readRawCommit(context, onto);
  await countDifferingPaths(context, tree, (await readRawCommit(context, head)).tree);
  const ids = await listCommits(context, onto, head);
  const id = await withQuarantine(context.dir, true, async (quarantine) => {
    const state: Rebase = { context, quarantine, committer, scraps: new Set() };
    let tip: Tip | null = { id: onto, tree };
    for (const id of ids) {
      tip = await putOnto(state, tip, id);
      if (tip === null) return null;
    }
    await keepObjects(quarantine, state.scraps);
    return tip.id;
  });
  return { result: id === null ? null : { id } };
};
