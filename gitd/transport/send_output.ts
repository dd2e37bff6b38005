/**
 * Sends what git writes about refs without waiting for the client: a client that reads nothing would otherwise hold a
 * place for git processes, of which there are few, as long as it likes.
 */
import { Readable, type Writable } from 'node:stream';
import type { Context } from '../handler_types.ts';
import type { GitProcess, GitRun } from '../exec/spawn.ts';
import type { Watchdog } from '../exec/transfer_watchdog.ts';
import { GitError } from '../git_error.ts';
import { openCache } from './open_cache.ts';

/** Bytes of an answer that is kept in memory until the client has read it. A longer one is kept on disk. */
const maxBytesInMemory = 256 * 1024;

type Chunks = AsyncIterator<Buffer, undefined>;

const succeeded = async (git: GitProcess, command: string): Promise<void> => {
  const { code } = await git.ended;
  if (code !== 0) throw new GitError('internal', `git ${command} ended with ${code}: ${git.stderrTail()}`);
};

/** Reads to the end, or until it is too much for memory. */
const readStart = async (chunks: Chunks): Promise<{ start: Buffer; isWhole: boolean }> => {
  const read: Buffer[] = [];
  let bytes = 0;
  while (bytes <= maxBytesInMemory) {
    const { value } = await chunks.next();
    if (value === undefined) return { start: Buffer.concat(read), isWhole: true };
    read.push(value);
    bytes += value.length;
  }
  return { start: Buffer.concat(read), isWhole: false };
};

type Run = Omit<GitRun, 'slot' | 'signal'> & { input?: Buffer };

type Started = { git: GitProcess; start: Buffer; isWhole: boolean; rest: Chunks };

const startGit = async ({ exec }: Context, run: Run, signal: AbortSignal): Promise<Started> => {
  const git = await exec.start({ ...run, slot: 'interactive', signal });
  git.stdin.end(run.input);
  const rest = git.stdout.iterator({ destroyOnReturn: false }) as Chunks;
  return { git, rest, ...(await readStart(rest)) };
};

/** Ends git. Its place becomes free once nobody can read its output any more. */
const discard = ({ git }: Started): void => {
  git.kill();
  git.stdout.destroy();
};

/** Yields the whole output. Ends git if the reader leaves. */
const readAll = async function* readAll(started: Started): AsyncGenerator<Buffer> {
  const { start, rest } = started;
  let isEnded = false;
  try {
    yield start;
    for (let next = await rest.next(); next.value !== undefined; next = await rest.next()) yield next.value;
    isEnded = true;
  } finally {
    if (!isEnded) discard(started);
  }
};

/** `key`: equal if the output is the same. */
export type OutputParts = { run: Run; key: string; output: Writable; watching: Watchdog };

/** Runs git and sends its output. Returns the output if it is short. */
export const sendOutput = async (
  context: Context,
  { run, key, output, watching }: OutputParts,
): Promise<Buffer | null> => {
  const cache = await openCache(context.root);
  const stop = new AbortController();
  /** Ends git with the client, until other clients may read the same answer. */
  const onGone = (): void => stop.abort(watching.signal.reason);
  watching.signal.addEventListener('abort', onGone, { once: true });
  let unused: Started | null = null;
  const source = async (signal: AbortSignal) => {
    const started = unused ?? (await startGit(context, run, stop.signal));
    unused = null;
    watching.signal.removeEventListener('abort', onGone);
    signal.addEventListener('abort', () => stop.abort(signal.reason), { once: true });
    const ended = succeeded(started.git, run.command);
    ended.catch(() => undefined);
    return { output: Readable.from(readAll(started)), ended };
  };
  try {
    if (!cache.holds(key)) {
      unused = await startGit(context, run, stop.signal);
      if (unused.isWhole) {
        await succeeded(unused.git, run.command);
        output.write(unused.start);
        const answer = unused.start;
        unused = null;
        return answer;
      }
    }
    if (unused !== null && cache.holds(key)) {
      // Another client has begun to store the same answer meanwhile.
      discard(unused);
      unused = null;
    }
    await cache.serve(key, output, source, watching);
    return null;
  } finally {
    watching.signal.removeEventListener('abort', onGone);
    if (unused !== null) discard(unused);
  }
};
