/** Compares trees through `git diff-tree --stdin`. */
import { randomBytes } from 'node:crypto';
import { type Argument, flag, oid } from '../exec/arguments.ts';
import type { Exec, ExitStatus, GitProcess } from '../exec/spawn.ts';
import { GitError } from '../git_error.ts';
import { ProcessPool, ProcessDied } from './process_pool.ts';

export type DiffTreePool = {
  /**
   * Passes git's output on in pieces, until `push` returns true.
   * @param trees ids of trees, not of commits
   */
  run: (request: DiffRequest, push: (chunk: Buffer) => boolean) => Promise<void>;
  endWorkers: (dir: string) => Promise<void>;
  stop: () => Promise<void>;
};

export type DiffRequest = {
  dir: string;
  trees: [from: string, to: string];
  signal: AbortSignal;
  seconds: number;
};

/** Flags of every diff: the repository's attributes and configuration change nothing. */
export const diffFlags: readonly Argument[] = [
  flag('-r'),
  flag('-M'),
  flag('--raw'),
  flag('-p'),
  flag('-z'),
  flag('--full-index'),
  flag('--no-ext-diff'),
  flag('--no-textconv'),
  flag('--no-color'),
  flag('--src-prefix=a/'),
  flag('--dst-prefix=b/'),
  flag('--submodule=short'),
];

type DiffTree = { process: GitProcess; run: DiffTreePool['run'] };

/** Passes on everything before the end mark, and reports when that has come. */
const makeFilter = (mark: Buffer, push: (chunk: Buffer) => void) => {
  let held: Buffer = Buffer.alloc(0);
  return (chunk: Buffer): boolean => {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const isEnd = bytes.length >= mark.length && bytes.subarray(-mark.length).equals(mark);
    const cut = isEnd ? bytes.length - mark.length : Math.max(0, bytes.length - mark.length);
    if (cut > 0) push(bytes.subarray(0, cut));
    held = bytes.subarray(cut);
    return isEnd;
  };
};

const openDiffTree = async (exec: Exec, dir: string): Promise<DiffTree> => {
  const args = [flag('--stdin'), ...diffFlags];
  const process = await exec.start({ command: 'diff-tree', args, dir, slot: null, seconds: null });
  let onChunk: (chunk: Buffer) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  process.stdout.on('data', (chunk: Buffer) => onChunk(chunk));
  const onEnd = ({ signal }: ExitStatus): void => {
    const stderrTail = process.stderrTail();
    const isMissing = /bad object|unable to read|not a tree|could not/i.test(stderrTail);
    const died = new ProcessDied(`diff-tree ended: ${signal ?? stderrTail}`, signal !== null);
    fail(isMissing ? new GitError('missing', stderrTail) : died);
  };
  process.ended.then(onEnd, (why: Error) => fail(why));
  return {
    process,
    run: async ({ trees, signal, seconds }, push) => {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const mark = `end-${randomBytes(16).toString('hex')}\n`;
      let enough = false;
      const filter = makeFilter(Buffer.from(mark), (chunk) => {
        if (!enough && push(chunk)) {
          enough = true;
          resolve();
          process.kill(); // quicker than reading the rest
        }
      });
      onChunk = (chunk) => {
        if (!enough && filter(chunk)) resolve();
      };
      fail = reject;
      const onAbort = (): void => process.kill(signal.reason as GitError);
      signal.addEventListener('abort', onAbort, { once: true });
      const timer = setTimeout(
        () => process.kill(new GitError('limit', 'the diff took too long')),
        seconds * 1000,
      );
      process.stdin.write(`${oid(trees[0])} ${oid(trees[1])}\n${mark}`);
      try {
        await promise;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
};

export const makeDiffTreePool = (exec: Exec): DiffTreePool => {
  const pool = new ProcessPool<DiffTree>({
    open: async (dir) => await openDiffTree(exec, dir),
    maxRequestsPerWorker: 1,
    maxWorkersPerRepository: 2,
    maxWorkers: 16,
    idleSeconds: 20,
  });
  return {
    run: async (request, push) => {
      let isPushed = false;
      const note = (chunk: Buffer): boolean => {
        isPushed = true;
        return push(chunk);
      };
      // What was passed on cannot be taken back.
      const mayRetry = (): boolean => !isPushed;
      await pool.use(request.dir, async ({ run }) => await run(request, note), mayRetry);
    },
    endWorkers: async (dir) => await pool.endWorkers(dir),
    stop: async () => await pool.stop(),
  };
};
