/** Merges trees by git, without a working tree. */
import type { Context } from '../handler_types.ts';
import { flag, oid } from '../exec/arguments.ts';
import { buildCommit } from '../odb/raw_commit.ts';
import { makeObjectWriter } from '../odb/loose_object_writer.ts';
import type { Quarantine } from '../odb/quarantine.ts';
import type { Oid, Signature } from '../protocol_records.ts';

/**
 * The result of a merge. `tree` contains conflict marks. A merge may be unclean without conflicting paths, for
 * example when a folder moved to two places.
 */
export type Merged = { tree: Oid; clean: boolean; conflicts: string[] };

/** Time limit; only hostile trees take longer. */
const seconds = 20;
/** Bytes of the list of conflicting paths. */
const maxListBytes = 8 * 2 ** 20;

const parseMerged = (stdout: Buffer, clean: boolean): Merged => {
  const [tree = '', ...rest] = stdout.toString('utf8').split('\0');
  return { tree, clean, conflicts: clean ? [] : rest.filter((name) => name !== '') };
};

/**
 * Merges two commits; the objects of the result stay in the quarantine.
 * @param durable false: only the answer matters, and nothing is synced
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
    maxOutput: maxListBytes,
    codes: [0, 1],
  });
  return parseMerged(stdout, code === 0);
};

const nobody: Signature = { name: 'nobody', email: '', time: 0, offset: '+0000' };

export type Change = {
  onto: { tree: Oid };
  /** Start of the change, and base of the merge; null: nothing. */
  base: Oid | null;
  /** End of the change: a commit whose first parent is the base, or a tree. */
  end: { commit: Oid } | { tree: Oid };
};

/**
 * Applies a change to a tree. git 2.39 merges commits only and computes their base itself. So temporary commits
 * (`scraps`) are made with the base as their only parent.
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
