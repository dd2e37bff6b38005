/** Checks files that git itself reads, such as `.gitmodules`, with the check that git applies to a push. */
import type { Context } from '../handler_types.ts';
import { flag } from '../exec/arguments.ts';
import { GitError } from '../git_error.ts';
import { hashObject } from '../odb/loose_object_writer.ts';
import { buildPack } from '../odb/build_pack.ts';
import { withQuarantine } from '../odb/quarantine.ts';
import { buildTree } from '../odb/raw_tree.ts';

/** A file by its base name, with one character per byte (latin1). */
export type CheckedFile = { name: string; mode: number; content: Buffer };

/** The largest file to check, in bytes. Callers refuse larger files without a check. */
export const maxCheckedBytes = 8 * 2 ** 20;

/** git exits with this code on every fatal error, for a bad file or a full disk; stderr contains the reason. */
const fatalExitCode = 128;

/**
 * Returns whether git would accept the file in a push, by `unpack-objects --strict`.
 * @throws GitError `internal` if git could not check the file
 */
export const passesPushCheck = async (context: Context, file: CheckedFile): Promise<boolean> => {
  const id = hashObject('blob', file.content);
  const pack = buildPack([
    { kind: 'blob', content: file.content },
    { kind: 'tree', content: buildTree([{ name: file.name, mode: file.mode, id }]) },
  ]);
  const runCheck = async (variables: Record<string, string>) =>
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
      codes: [0, fatalExitCode],
    });
  const { code, stderr } = await withQuarantine(context.dir, false, async ({ env }) => runCheck(env));
  if (code === 0) return true;
  if (stderr.includes('fsck error')) return false;
  throw new GitError('internal', `git unpack-objects ended with ${code}: ${stderr}`);
};
