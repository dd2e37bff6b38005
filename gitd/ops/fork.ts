import { join } from 'node:path';
import type { Answer, Context } from '../handler_types.ts';
import { flag, ref, type Argument } from '../exec/arguments.ts';
import { GitError, repositoryLost } from '../git_error.ts';
import type { Methods } from '../protocol.ts';
import { raiseGeneration } from '../refs/ref_generation.ts';
import { changeRefsAtOnce } from '../refs/restore_refs.ts';
import { fillRepository, putInPlace } from '../storage/create_repository.ts';
import { resolveRepositoryPath, repositoryExists } from '../disk/storage_paths.ts';
import { linkObjects } from './link_objects.ts';

const maxListBytes = 256 * 2 ** 20;

/** Prefixes of refs that a fork copies: users' refs. Internal refs have a meaning in their own project only. */
const toPrefixArgument = (text: string): Argument => {
  if (text === 'refs/heads' || text === 'refs/heads/') return flag('refs/heads');
  if (text === 'refs/tags' || text === 'refs/tags/') return flag('refs/tags');
  if (/^refs\/(?:heads|tags)\//u.test(text)) return ref(text);
  throw new GitError('invalid', 'not a prefix of branches or tags');
};

/** Lists the refs as `create <ref> <oid>` commands of update-ref. */
const listRefs = async (context: Context, dir: string, prefixes: Argument[]): Promise<Buffer> => {
  if (prefixes.length === 0) return Buffer.alloc(0);
  const { stdout } = await context.exec.run({
    command: 'for-each-ref',
    args: [flag('--format=create %(refname) %(objectname)'), ...prefixes],
    dir,
    slot: 'interactive',
    seconds: 60,
    signal: context.signal,
    maxOutput: maxListBytes,
  });
  return stdout;
};

/** Forks a repository by hard links. @throws GitError `conflict` if the target exists */
export const forkRepository = async (
  { source, source_written, refs }: Methods['repository.fork']['params'],
  context: Context,
): Promise<Answer<'repository.fork'>> => {
  const sourceDir = resolveRepositoryPath(context.root, source);
  const prefixes = refs.map(toPrefixArgument);
  const taken = new GitError('conflict', 'there is a repository already');
  if (await repositoryExists(context.dir)) throw taken;
  const isEmpty = !(await repositoryExists(sourceDir));
  if (isEmpty && source_written === true) throw repositoryLost();
  // Read before the objects are linked, so that they include everything that the refs reach.
  const commands = isEmpty ? Buffer.alloc(0) : await listRefs(context, sourceDir, prefixes);
  const isMade = await putInPlace(context, context.dir, async (made) => {
    await fillRepository(made);
    if (!isEmpty) await linkObjects(join(sourceDir, 'objects'), join(made, 'objects'));
    await changeRefsAtOnce(context, made, commands);
  });
  if (!isMade) throw taken;
  raiseGeneration(context.dir);
  return { result: {} };
};
