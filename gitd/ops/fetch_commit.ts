import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Answer, Context } from '../handler_types.ts';
import { flag } from '../exec/arguments.ts';
import { GitError } from '../git_error.ts';
import { quotedFolder } from '../odb/quarantine.ts';
import type { Methods } from '../protocol.ts';
import type { Oid } from '../protocol_records.ts';
import { updateRefs } from '../refs/update_refs.ts';
import { ensureRepository } from '../storage/create_repository.ts';
import { resolveRepositoryPath } from '../disk/storage_paths.ts';
import { requireCommit } from '../pool/read_object.ts';
import { startPack, takePack } from './transfer_packs.ts';

/** Lists the targets of all refs: objects that they reach need not be copied. */
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

/** Returns whether the stream has a byte before its end. */
const hasBytes = async (source: Readable): Promise<boolean> => {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  source.once('readable', () => resolve(source.readableLength > 0));
  source.once('end', () => resolve(false));
  source.once('error', reject);
  return promise;
};

/** Copies commits and what they need, except objects that the tips reach. */
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
  if (code !== 0) throw new GitError('internal', `pack-objects ended with ${code}: ${process.stderrTail()}`);
};

/**
 * Copies a commit with all it needs from another repository of the storage, and keeps it by a ref. The source's
 * objects are copied, not borrowed.
 */
export const fetchCommit = async (
  { source, commit, ref }: Methods['repository.fetch_commit']['params'],
  context: Context,
): Promise<Answer<'repository.fetch_commit'>> => {
  const sourceDir = resolveRepositoryPath(context.root, source);
  await requireCommit({ ...context, dir: sourceDir }, commit);
  await ensureRepository(context);
  const not = await listTips(context);
  if (!not.includes(commit)) await copyObjects(context, sourceDir, { commits: [commit], not });
  await updateRefs(context, [{ ref, old: null, new: commit }]);
  return { result: {} };
};
