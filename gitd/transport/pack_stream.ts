/**
 * Answers plain fetches of protocol v2 with `git pack-objects`. `git upload-pack` would start the same process, and
 * would copy each byte of its output once more.
 */
import { Readable } from 'node:stream';
import type { Context } from '../handler_types.ts';
import { flag } from '../exec/arguments.ts';
import type { GitProcess } from '../exec/spawn.ts';
import { transferShares } from '../exec/transfer_shares.ts';
import { GitError } from '../git_error.ts';
import type { Client, Oid } from '../protocol_records.ts';
import { gatherOutput } from '../exec/gather_output.ts';
import { flushPacket, maxPacketBytes, packet } from './packet_lines.ts';
import type { PlainFetch } from './parse_request.ts';

/** Length and band of a packet. */
const headBytes = 5;
const [packBand, progressBand, errorBand] = [1, 2, 3];
/** Milliseconds without output after which the client gets an empty packet, so that it keeps waiting. */
const keepAliveInterval = 5_000;

const maxDataBytes = maxPacketBytes - headBytes;

/** Wraps data in packets of a side band, each as long as possible. Copies each byte once. */
const toPackets = (band: number, chunks: readonly Buffer[]): Buffer => {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const packets = Math.max(1, Math.ceil(length / maxDataBytes));
  const bytes = Buffer.allocUnsafe(length + packets * headBytes);
  for (let at = 0; at < packets; at += 1) {
    const start = at * maxPacketBytes;
    const size = Math.min(maxDataBytes, length - at * maxDataBytes) + headBytes;
    bytes.write(size.toString(16).padStart(4, '0'), start, 'latin1');
    bytes[start + headBytes - 1] = band;
  }
  let done = 0;
  for (const chunk of chunks) {
    for (let from = 0; from < chunk.length;) {
      const inPacket = done % maxDataBytes;
      const count = Math.min(chunk.length - from, maxDataBytes - inPacket);
      const start = Math.floor(done / maxDataBytes) * maxPacketBytes + headBytes + inPacket;
      chunk.copy(bytes, start, from, from + count);
      from += count;
      done += count;
    }
  }
  return bytes;
};

/** Converts the output of `pack-objects` into a response. */
const toResponse = (git: GitProcess): Readable => {
  const response = new Readable({
    highWaterMark: 256 * 1024,
    read: () => output.resume(),
    destroy: (error, done) => {
      stop();
      git.kill(new GitError('unavailable', 'the caller has gone'));
      done(error);
    },
  });
  const push = (band: number, chunks: readonly Buffer[]): boolean => response.push(toPackets(band, chunks));
  const keepAlive = setInterval(() => push(packBand, []), keepAliveInterval);
  const output = gatherOutput(git.stdout, (chunks) => {
    keepAlive.refresh();
    return push(packBand, chunks);
  });
  const stop = (): void => {
    clearInterval(keepAlive);
    output.stop();
  };
  // `spawn.ts` decodes standard error.
  git.stderr.on('data', (text: string) => push(progressBand, [Buffer.from(text)]));
  response.push(packet('packfile\n'));
  const finish = async (): Promise<void> => {
    const { code } = await git.ended;
    output.flush();
    if (code !== 0) throw new GitError('internal', 'the pack could not be made');
    response.push(flushPacket);
  };
  finish()
    .catch(({ message }: Error) => push(errorBand, [Buffer.from(`${message}\n`)]))
    .finally(() => {
      stop();
      response.push(null);
    });
  return response;
};

/** Returns the objects that the repository has, too. */
const selectCommon = async ({ pools, dir }: Context, haves: readonly Oid[]): Promise<Oid[]> => {
  const objects = await Promise.all(haves.map(async (oid) => await pools.catFile.info(dir, oid)));
  return haves.filter((_oid, at) => objects[at] !== null);
};

/** Maximum seconds of a transfer. */
type Limits = { client: Client | null; seconds: number; signal: AbortSignal };

/** Starts to send a pack. The caller must read the output to the end. */
export const startPack = async (
  context: Context,
  fetch: PlainFetch,
  { client, seconds, signal }: Limits,
): Promise<{ output: Readable; ended: Promise<void> }> => {
  const { wants, haves, isThin, hasProgress, takesOffsetDeltas, takesTags } = fetch;
  const common = await selectCommon(context, haves);
  const git = await context.exec.start({
    command: 'pack-objects',
    args: [
      flag('--revs'),
      flag('--stdout'),
      flag(hasProgress ? '--progress' : '--quiet'),
      ...(isThin ? [flag('--thin')] : []),
      ...(takesOffsetDeltas ? [flag('--delta-base-offset')] : []),
      ...(takesTags ? [flag('--include-tag')] : []),
    ],
    dir: context.dir,
    slot: 'transfer',
    shares: transferShares('read', client),
    seconds,
    signal,
    stopsAtPause: true,
  });
  git.stdin.end(`${[...wants, '--not', ...common].join('\n')}\n`);
  const ended = git.ended.then(({ code }) => {
    if (code !== 0)
      throw new GitError('internal', `git pack-objects ended with ${code}: ${git.stderrTail()}`);
  });
  ended.catch(() => undefined);
  return { output: toResponse(git), ended };
};
