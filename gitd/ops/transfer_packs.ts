/** Sends and receives packs between repositories. */
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Context, StreamIo } from '../handler_types.ts';
import { reachFaultPoint } from '../fault_points.ts';
import { count, flag, isOid, type Argument } from '../exec/arguments.ts';
import { streamProcessChain } from '../exec/stream_process_chain.ts';
import type { GitProcess } from '../exec/spawn.ts';
import { GitError, isDiskFailure } from '../git_error.ts';
import type { Streams } from '../protocol.ts';
import type { Oid } from '../protocol_records.ts';
import { ensureRepository } from '../storage/create_repository.ts';
import { syncFolder } from '../disk/sync_folders.ts';
import { requireCommit } from '../pool/read_object.ts';

const hourSeconds = 3_600;
const maxPackBytes = 64 * 2 ** 30;

const packArguments: readonly Argument[] = [
  flag('--revs'),
  flag('--stdout'),
  flag('--thin'),
  flag('--delta-base-offset'),
  flag('-q'),
];

/** The same checks as `receive.fsck.*` sets for a push. */
const indexArguments: readonly Argument[] = [
  flag('--stdin'),
  flag('--fix-thin'),
  flag('--strict=badTimezone=ignore,missingSpaceBeforeDate=ignore,zeroPaddedFilemode=ignore'),
  count('--max-input-size=', maxPackBytes),
];

/**
 * Starts to write a pack of commits and what they need, without what the `not` commits have.
 * @param variables location of the objects, if they are not only in the repository
 * @param unlessEmpty writes nothing if there is nothing to send
 */
export const startPack = async (
  context: Context,
  { commits, not }: { commits: Oid[]; not: Oid[] },
  { variables = {}, unlessEmpty = false }: { variables?: Record<string, string>; unlessEmpty?: boolean } = {},
): Promise<GitProcess> => {
  const process = await context.exec.start({
    command: 'pack-objects',
    args: [...packArguments, ...(unlessEmpty ? [flag('--non-empty')] : [])],
    dir: context.dir,
    slot: 'transfer',
    seconds: hourSeconds,
    signal: context.signal,
    variables,
  });
  process.stdin.end([...commits, '--not', ...not, ''].join('\n'));
  return process;
};

/** Stores a pack in the repository; it is durable when this resolves. */
export const takePack = async (context: Context, source: Readable, seconds = hourSeconds): Promise<void> => {
  const process = await context.exec.start({
    command: 'index-pack',
    args: indexArguments,
    dir: context.dir,
    slot: null, // the sending process has a slot
    seconds,
    signal: context.signal,
  });
  process.stdout.resume();
  // If either side fails, git's input ends and its exit code says why.
  await pipeline(source, process.stdin, { signal: context.signal }).catch(() => undefined);
  const { code } = await process.ended;
  const text = process.stderrTail();
  if (code === null || isDiskFailure(text))
    throw new GitError('unavailable', `index-pack was stopped: ${text}`);
  if (code !== 0) throw new GitError('invalid', `the pack is refused: ${text}`);
  await syncFolder(join(context.dir, 'objects', 'pack'));
  reachFaultPoint('objects.written');
};

const hasObject = async (context: Context, id: Oid): Promise<boolean> => {
  if (!isOid(id)) throw new GitError('invalid', 'not an object id');
  return (await context.pools.catFile.info(context.dir, id)) !== null;
};

const selectExisting = async (context: Context, ids: readonly Oid[]): Promise<Oid[]> => {
  const existing: Oid[] = [];
  for (const id of ids) if (await hasObject(context, id)) existing.push(id);
  return existing;
};

const sendPack = async (
  context: Context,
  { output }: StreamIo,
  { commits, not }: { commits: Oid[]; not: Oid[] },
): Promise<Record<string, never>> => {
  // git refuses ids that are not in this repository.
  const process = await startPack(context, { commits, not: await selectExisting(context, not) });
  await streamProcessChain({ processes: [process], output, signal: context.signal });
  return {};
};

export const readPack = async (
  { commits, not }: Streams['pack.read']['params'],
  context: Context,
  io: StreamIo,
): Promise<Record<string, never>> => {
  for (const id of commits) await requireCommit(context, id);
  return await sendPack(context, io, { commits, not });
};

/** Also sends everything that tags, trees and blobs reach. Omits tips that do not exist, and reports them. */
export const dumpPack = async (
  { tips, not }: Streams['pack.dump']['params'],
  context: Context,
  io: StreamIo,
): Promise<Streams['pack.dump']['result']> => {
  const commits = await selectExisting(context, tips);
  if (commits.length > 0) await sendPack(context, io, { commits, not });
  else io.output.end();
  const sent = new Set(commits);
  return { missing: tips.filter((id) => !sent.has(id)) };
};

export const writePack = async (
  { seconds }: Streams['pack.write']['params'],
  context: Context,
  io: StreamIo,
): Promise<Record<string, never>> => {
  await ensureRepository(context);
  await takePack(context, io.input, seconds);
  return {};
};
