/** Reads and sets all refs of a repository in one step, for backups and forks. */
import { join } from 'node:path';
import type { Context, MethodHandler } from '../handler_types.ts';
import { flag, isOid } from '../exec/arguments.ts';
import { GitError } from '../git_error.ts';
import { syncFolder } from '../disk/sync_folders.ts';
import { clearLocksOnce } from '../storage/stale_locks.ts';
import { ensureRepository } from '../storage/create_repository.ts';
import { requireRepository } from '../storage/require_repository.ts';
import { raiseGeneration } from './ref_generation.ts';
import { isFullRef } from '../ref_names.ts';

const hourSeconds = 3_600;
const maxListBytes = 256 * 2 ** 20;

/**
 * Changes refs by commands of update-ref: first loose and not synced, then packed into one synced file.
 * @param dir a repository that nobody else uses
 */
export const changeRefsAtOnce = async (
  { exec, signal }: Pick<Context, 'exec' | 'signal'>,
  dir: string,
  commands: Buffer,
): Promise<void> => {
  if (commands.length === 0) return;
  const common = { dir, slot: 'interactive', seconds: hourSeconds, signal } as const;
  await exec.run({
    ...common,
    command: 'update-ref',
    args: [flag('--stdin')],
    config: [['core.fsync', 'none']],
    input: commands,
  });
  await exec.run({ ...common, command: 'pack-refs', args: [flag('--all')] });
  await Promise.all(['', 'refs', 'refs/heads', 'refs/tags'].map((folder) => syncFolder(join(dir, folder))));
};

const readLines = async ({ exec, dir, signal }: Context): Promise<string> => {
  const { stdout } = await exec.run({
    command: 'for-each-ref',
    args: [flag('--format=%(objectname) %(refname)')],
    dir,
    slot: 'interactive',
    seconds: 120,
    signal,
    maxOutput: maxListBytes,
  });
  return stdout.toString();
};

export const dumpRefs: MethodHandler<'refs.dump'> = async (_params, context) => {
  await requireRepository(context);
  return { result: {}, body: Buffer.from(await readLines(context)) };
};

/** Parses lines `<oid> <name>`. @throws GitError `invalid` */
const parseLines = (text: string): Map<string, string> => {
  const refs = new Map<string, string>();
  for (const line of text.split('\n').filter(Boolean)) {
    const [id, name] = [line.slice(0, 40), line.slice(41)];
    if (!isOid(id) || !isFullRef(name)) throw new GitError('invalid', 'not a list of refs');
    refs.set(name, id);
  }
  return refs;
};

export const restoreRefs: MethodHandler<'refs.restore'> = async (_params, context, body) => {
  const requested = parseLines(body.toString());
  await ensureRepository(context);
  await clearLocksOnce(context.dir);
  const present = parseLines(await readLines(context));
  const commands = [
    ...[...present].filter(([name]) => !requested.has(name)).map(([name]) => `delete ${name}\n`),
    ...[...requested]
      .filter(([name, id]) => present.get(name) !== id)
      .map(([name, id]) => `update ${name} ${id}\n`),
  ];
  await changeRefsAtOnce(context, context.dir, Buffer.from(commands.join('')));
  raiseGeneration(context.dir);
  return { result: {} };
};
