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

/** Wraps data in packets of a side band. */
const toPackets = (band: number, data: Buffer): Buffer => {
  const maxDataBytes = maxPacketBytes - headBytes;
  const packets = Math.max(1, Math.ceil(data.length / maxDataBytes));
  const bytes = Buffer.allocUnsafe(data.length + packets * headBytes);
  let end = 0;
  for (let at = 0; at < packets; at += 1) {
    const piece = data.subarray(at * maxDataBytes, (at + 1) * maxDataBytes);
    bytes.write((piece.length + headBytes).toString(16).padStart(4, '0'), end, 'latin1');
    bytes[end + headBytes - 1] = band;
    bytes.set(piece, end + headBytes);
    end += headBytes + piece.length;
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
  const push = (band: number, data: Buffer): boolean => response.push(toPackets(band, data));
  const keepAlive = setInterval(() => push(packBand, Buffer.alloc(0)), keepAliveInterval);
  const output = gatherOutput(git.stdout, (data) => {
    keepAlive.refresh();
    return push(packBand, data);
  });
  const stop = (): void => {
    clearInterval(keepAlive);
    output.stop();
  };
  // `spawn.ts` decodes standard error.
  git.stderr.on('data', (text: string) => push(progressBand, Buffer.from(text)));
  response.push(packet('packfile\n'));
  const finish = async (): Promise<void> => {
    const { code } = await git.ended;
    output.flush();
    if (code !== 0) throw new GitError('internal', 'the pack could not be made');
    response.push(flushPacket);
  };
  finish()
    .catch(({ message }: Error) => push(errorBand, Buffer.from(`${message}\n`)))
    .finally(() => {
      stop();
      response.push(null);
    });
  return response;
};

/** Returns the objects that the repository has, too. */
const selectCommon = async ({ pools, dir }: Context, haves: readonly Oid[]): Promise<Oid[]> => {
  const found = await Promise.all(haves.map(async (oid) => await pools.catFile.info(dir, oid)));
  return haves.filter((_oid, at) => found[at] !== null);
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
