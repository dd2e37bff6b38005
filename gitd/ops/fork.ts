import { join } from 'node:path';
import type { Answer, Context } from '../context.ts';
import { flag, ref, type Argument } from '../exec/arguments.ts';
import { GitError, lost } from '../failure.ts';
import type { Methods } from '../protocol.ts';
import { refsChanged } from '../refs/generation.ts';
import { fill, putInPlace } from '../storage/create.ts';
import { syncFolder } from '../storage/durable.ts';
import { dirOf, isThere } from '../storage/layout.ts';
import { linkObjects } from './link_objects.ts';

const hour = 3600;
const largestList = 256 * 2 ** 20;

/** Refs of people come along; ours mean something in their own project only. */
const prefixOf = (text: string): Argument => {
  if (text === 'refs/heads' || text === 'refs/heads/') return flag('refs/heads');
  if (text === 'refs/tags' || text === 'refs/tags/') return flag('refs/tags');
  if (/^refs\/(?:heads|tags)\//u.test(text)) return ref(text);
  throw new GitError('invalid', 'not a prefix of branches or tags');
};

/** `create <ref> <oid>` for each, as update-ref reads it. */
const listRefs = async (context: Context, dir: string, prefixes: Argument[]): Promise<Buffer> => {
  if (prefixes.length === 0) return Buffer.alloc(0);
  const { stdout } = await context.exec.run({
    command: 'for-each-ref',
    args: [flag('--format=create %(refname) %(objectname)'), ...prefixes],
    dir,
    slot: 'interactive',
    seconds: 60,
    signal: context.signal,
    maxOutput: largestList,
  });
  return stdout;
};

/** All at once: loose and not synced at first, then in one file that is. */
const makeRefs = async (context: Context, dir: string, commands: Buffer): Promise<void> => {
  if (commands.length === 0) return;
  const common = { dir, slot: 'interactive', seconds: hour, signal: context.signal } as const;
  await context.exec.run({
    ...common,
    command: 'update-ref',
    args: [flag('--stdin')],
    config: [['core.fsync', 'none']],
    input: commands,
  });
  await context.exec.run({ ...common, command: 'pack-refs', args: [flag('--all')] });
  await Promise.all(['', 'refs', 'refs/heads', 'refs/tags'].map((folder) => syncFolder(join(dir, folder))));
};

/** @throws GitError `conflict` where a repository is already */
export const fork = async (
  { source, source_written, refs }: Methods['repository.fork']['params'],
  context: Context,
): Promise<Answer<'repository.fork'>> => {
  const sourceDir = dirOf(context.root, source);
  const prefixes = refs.map(prefixOf);
  const taken = new GitError('conflict', 'there is a repository already');
  if (await isThere(context.dir)) throw taken;
  const isEmpty = !(await isThere(sourceDir));
  if (isEmpty && source_written === true) throw lost();
  // Before the objects: what the refs lead to now is among them.
  const commands = isEmpty ? Buffer.alloc(0) : await listRefs(context, sourceDir, prefixes);
  const isMade = await putInPlace(context, context.dir, async (made) => {
    await fill(made);
    if (!isEmpty) await linkObjects(join(sourceDir, 'objects'), join(made, 'objects'));
    await makeRefs(context, made, commands);
  });
  if (!isMade) throw taken;
  refsChanged(context.dir);
  return { result: {} };
};
