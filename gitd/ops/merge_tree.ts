/** Merges of trees by git, without a working tree. */
import type { Context } from '../context.ts';
import { flag, oid } from '../exec/arguments.ts';
import { buildCommit } from '../odb/commit.ts';
import { makeObjectWriter } from '../odb/loose.ts';
import type { Quarantine } from '../odb/quarantine.ts';
import type { Oid, Signature } from '../protocol.ts';

/**
 * `tree` has conflict marks where there are conflicts. Some have no file: where a folder went to two places, say. So
 * a merge that is not clean may have no name to tell.
 */
export type Merged = { tree: Oid; clean: boolean; conflicts: string[] };

/** A tree that takes longer is meant to. */
const seconds = 20;
/** Of names in conflict. */
const longestList = 8 * 2 ** 20;

const parseMerged = (stdout: Buffer, clean: boolean): Merged => {
  const [tree = '', ...rest] = stdout.toString('utf8').split('\0');
  return { tree, clean, conflicts: clean ? [] : rest.filter((name) => name !== '') };
};

/**
 * Merges two commits; the objects of the result stay in the quarantine.
 * @param durable false: only the answer is wanted, and nothing is synced
 */
export const mergeCommits = async (
  context: Context,
  quarantine: Quarantine,
  sides: [ours: Oid, theirs: Oid],
  durable = true,
): Promise<Merged> => {
  const flags = [
    flag('--write-tree'),
    flag('-z'),
    flag('--name-only'),
    flag('--no-messages'),
    flag('--allow-unrelated-histories'),
    flag('--end-of-options'),
  ];
  const { code, stdout } = await context.exec.run({
    command: 'merge-tree',
    args: [...flags, ...sides.map(oid)],
    dir: context.dir,
    slot: 'interactive',
    seconds,
    signal: context.signal,
    variables: quarantine.env,
    config: durable ? [] : [['core.fsync', 'none']],
    maxOutput: longestList,
    codes: [0, 1],
  });
  return parseMerged(stdout, code === 0);
};

const nobody: Signature = { name: 'nobody', email: '', time: 0, offset: '+0000' };

export type Change = {
  onto: { tree: Oid };
  /** What the change begins with, and the merge takes for its base; null: nothing. */
  base: Oid | null;
  /** What it ends with: a commit whose first parent is the base, or a tree. */
  end: { commit: Oid } | { tree: Oid };
};

/**
 * Puts a change onto a tree. git 2.39 merges commits only, and finds their base itself: so we give it commits, which
 * do not last (`scraps`), with the base as their only parent.
 */
export const applyChange = async (
  context: Context,
  quarantine: Quarantine,
  { onto, base, end }: Change,
): Promise<Merged & { scraps: Oid[] }> => {
  const writer = makeObjectWriter(quarantine.objects, false);
  const parents = base === null ? [] : [base];
  const scrap = (tree: Oid): Oid =>
    writer.add('commit', buildCommit({ tree, parents, author: nobody, committer: nobody, message: '' }));
  const sides: [Oid, Oid] = [scrap(onto.tree), 'commit' in end ? end.commit : scrap(end.tree)];
  const scraps = writer.ids();
  await writer.flush();
  return { ...(await mergeCommits(context, quarantine, sides)), scraps };
};
