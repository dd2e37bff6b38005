import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Answer, Context } from '../context.ts';
import { flag } from '../exec/arguments.ts';
import { GitError } from '../failure.ts';
import { quotedFolder } from '../odb/quarantine.ts';
import type { Methods, Oid } from '../protocol.ts';
import { updateRefs } from '../refs/update.ts';
import { ensureRepository } from '../storage/create.ts';
import { dirOf } from '../storage/layout.ts';
import { requireCommit } from './objects.ts';
import { startPack, takePack } from './packs.ts';

/** Everything that the repository's refs lead to need not come again. */
const listTips = async (context: Context): Promise<Oid[]> => {
  const { stdout } = await context.exec.run({
    command: 'for-each-ref',
    args: [flag('--format=%(objectname)')],
    dir: context.dir,
    slot: 'interactive',
    seconds: 30,
    signal: context.signal,
    maxOutput: 256 * 2 ** 20,
  });
  return [...new Set(stdout.toString('latin1').split('\n').filter(Boolean))];
};

/** Whether a byte comes before its end. */
const hasBytes = async (source: Readable): Promise<boolean> => {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  source.once('readable', () => resolve(source.readableLength > 0));
  source.once('end', () => resolve(false));
  source.once('error', reject);
  return promise;
};

/** Copies the commit and what it needs, but for what the tips have. */
const copyObjects = async (
  context: Context,
  sourceDir: string,
  pack: { commits: Oid[]; not: Oid[] },
): Promise<void> => {
  const alternates = { GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedFolder(join(sourceDir, 'objects')) };
  const process = await startPack(context, pack, { variables: alternates, unlessEmpty: true });
  try {
    if (await hasBytes(process.stdout)) await takePack(context, process.stdout);
    else process.stdout.resume();
  } catch (error) {
    process.kill();
    throw error;
  }
  const { code } = await process.ended;
  if (code !== 0) throw new GitError('internal', `pack-objects ended with ${code}: ${process.complaint()}`);
};

/**
 * Copies what a commit needs from another repository of the storage and keeps it by a ref. The other one's objects
 * are read in place for that, but never borrowed: with the answer, this one holds them itself.
 */
export const bring = async (
  { source, commit, ref }: Methods['repository.bring']['params'],
  context: Context,
): Promise<Answer<'repository.bring'>> => {
  const sourceDir = dirOf(context.root, source);
  await requireCommit({ ...context, dir: sourceDir }, commit);
  await ensureRepository(context);
  const not = await listTips(context);
  if (!not.includes(commit)) await copyObjects(context, sourceDir, { commits: [commit], not });
  await updateRefs(context, [{ ref, old: null, new: commit }]);
  return { result: {} };
};
