/** Files that git itself reads: what is refused in a push is refused here, by the same judge. */
import type { Context } from '../context.ts';
import { flag } from '../exec/arguments.ts';
import { GitError } from '../failure.ts';
import { oidOf } from '../odb/loose.ts';
import { buildPack } from '../odb/pack.ts';
import { withQuarantine } from '../odb/quarantine.ts';
import { buildTree } from '../odb/tree.ts';

/** `name`: bytes as latin1, without folders. */
export type JudgedFile = { name: string; mode: number; content: Buffer };

/** A file of settings is not longer. */
export const largestJudged = 8 * 2 ** 20;

/** Whether git takes such a file from a push, by `unpack-objects --strict`. */
export const isFitForGit = async (context: Context, file: JudgedFile): Promise<boolean> => {
  const id = oidOf('blob', file.content);
  const pack = buildPack([
    { kind: 'blob', content: file.content },
    { kind: 'tree', content: buildTree([{ name: file.name, mode: file.mode, id }]) },
  ]);
  const judge = async (variables: Record<string, string>): Promise<void> => {
    await context.exec.run({
      command: 'unpack-objects',
      args: [flag('--strict'), flag('-q')],
      dir: context.dir,
      slot: 'interactive',
      seconds: 10,
      signal: context.signal,
      variables,
      config: [['core.fsync', 'none']],
      input: pack,
    });
  };
  try {
    await withQuarantine(context.dir, false, async ({ env }) => judge(env));
    return true;
  } catch (error) {
    // It tells of a bad file by its exit code; whatever else kept it from judging is told as such.
    if (error instanceof GitError && error.kind === 'internal') return false;
    throw error;
  }
};
