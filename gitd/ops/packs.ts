/** Objects on their way between repositories. */
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Context, StreamIo } from '../context.ts';
import { reached } from '../effects.ts';
import { count, flag, isOid, type Argument } from '../exec/arguments.ts';
import { sendOutput } from '../exec/send.ts';
import type { GitProcess } from '../exec/spawn.ts';
import { GitError } from '../failure.ts';
import type { Oid, Streams } from '../protocol.ts';
import { ensureRepository } from '../storage/create.ts';
import { syncFolder } from '../storage/durable.ts';
import { requireCommit } from './objects.ts';

const hour = 3600;
/** A pack that takes more is none of a repository of ours. */
const largestPack = 64 * 2 ** 30;

const packArguments: readonly Argument[] = [
  flag('--revs'),
  flag('--stdout'),
  flag('--thin'),
  flag('--delta-base-offset'),
  flag('-q'),
];

/** What `receive.fsck.*` says for a push. */
const indexArguments: readonly Argument[] = [
  flag('--stdin'),
  flag('--fix-thin'),
  flag('--strict=badTimezone=ignore,missingSpaceBeforeDate=ignore,zeroPaddedFilemode=ignore'),
  count('--max-input-size=', largestPack),
];

/**
 * Starts to write a pack of these commits and what they need, but nothing that these others have.
 * @param variables where the objects lie, if not in the repository alone
 * @param unlessEmpty writes not a byte where there is nothing to send
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
    seconds: hour,
    signal: context.signal,
    variables,
  });
  process.stdin.end([...commits, '--not', ...not, ''].join('\n'));
  return process;
};

/** Takes a pack into the repository; with the answer it is durable. */
export const takePack = async (context: Context, source: Readable): Promise<void> => {
  const process = await context.exec.start({
    command: 'index-pack',
    args: indexArguments,
    dir: context.dir,
    slot: null, // whoever sends has a place
    seconds: hour,
    signal: context.signal,
  });
  process.stdout.resume();
  // Whichever side fails, git's input ends, and its exit code tells.
  await pipeline(source, process.stdin, { signal: context.signal }).catch(() => undefined);
  const { code } = await process.ended;
  if (code !== 0) throw new GitError('invalid', `the pack is refused: ${process.complaint()}`);
  await syncFolder(join(context.dir, 'objects', 'pack'));
  reached('objects.written');
};

const isHere = async (context: Context, id: Oid): Promise<boolean> => {
  if (!isOid(id)) throw new GitError('invalid', 'not an object id');
  return (await context.pools.catFile.info(context.dir, id)) !== null;
};

export const readPack = async (
  { commits, not }: Streams['pack.read']['params'],
  context: Context,
  io: StreamIo,
): Promise<Record<string, never>> => {
  for (const id of commits) await requireCommit(context, id); // oxlint-disable-line no-await-in-loop -- few
  const known: Oid[] = [];
  // What only the other side has tells nothing here.
  for (const id of not) if (await isHere(context, id)) known.push(id);
  const process = await startPack(context, { commits, not: known });
  await sendOutput({ processes: [process], output: io.output, signal: context.signal });
  return {};
};

export const writePack = async (
  _params: Streams['pack.write']['params'],
  context: Context,
  io: StreamIo,
): Promise<Record<string, never>> => {
  await ensureRepository(context);
  await takePack(context, io.input);
  return {};
};
