/** Updates refs through `git update-ref --stdin`: all or none, each compared with its expected value. */
import { reachFaultPoint } from '../fault_points.ts';
import { flag, isOid } from '../exec/arguments.ts';
import type { Exec, GitProcess } from '../exec/spawn.ts';
import { GitError, isDiskFailure } from '../git_error.ts';
import { type RefUpdate, zeroOid } from '../protocol_records.ts';
import { isFullRef } from '../ref_names.ts';
import { ProcessPool, ProcessDied } from './process_pool.ts';

export type UpdateRefPool = {
  /** Updates refs. @throws GitError `conflict`, `missing`, `invalid`; then nothing has changed */
  update: (dir: string, updates: readonly RefUpdate[]) => Promise<void>;
  endWorkers: (dir: string) => Promise<void>;
  stop: () => Promise<void>;
};

/** The process was killed while it held all ref locks: they remain, and some refs may have moved. */
export class DiedHolding extends GitError {
  constructor() {
    super('unavailable', 'update-ref ended in the middle of a change');
  }
}

type UpdateRef = { process: GitProcess; commit: (text: string) => Promise<void> };

/** Milliseconds for one transaction, with the wait for lock files. */
const answerTimeout = 30_000;

const problems: readonly (readonly [RegExp, GitError['kind']])[] = [
  [
    /is at [0-9a-f]+ but expected|already exists|is missing but expected|unable to resolve reference/,
    'conflict',
  ],
  [
    /exists; cannot create|cannot process .* and .* at the same time|File exists|Unable to create/i,
    'conflict',
  ],
  [/nonexistent object|non-commit object/, 'missing'],
  [/invalid ref format|refusing to update|bad name|invalid <|File name too long/, 'invalid'],
];

/** Turns a message of update-ref into an error. */
const parseComplaint = (stderrTail: string): GitError =>
  // Git words it like a lock of another change, which would be a conflict.
  isDiskFailure(stderrTail)
    ? new GitError('unavailable', stderrTail)
    : new GitError(problems.find(([pattern]) => pattern.test(stderrTail))?.[1] ?? 'internal', stderrTail);

const openUpdateRef = async (exec: Exec, dir: string): Promise<UpdateRef> => {
  const args = [flag('--no-deref'), flag('--stdin')];
  const process = await exec.start({ command: 'update-ref', args, dir, slot: null, seconds: null });
  let open: PromiseWithResolvers<void> | null = null;
  let isHolding = false;
  let text = '';
  process.stdout.setEncoding('utf8');
  process.stdout.on('data', (chunk: string) => {
    text += chunk;
    if (text.endsWith('prepare: ok\n')) {
      isHolding = true;
      reachFaultPoint('refs.prepared');
      process.stdin.write('commit\n');
    }
    if (!text.endsWith('commit: ok\n')) return;
    text = '';
    isHolding = false;
    open?.resolve();
  });
  const died = (why?: unknown): void => {
    const stderrTail = process.stderrTail();
    if (why instanceof GitError) open?.reject(why);
    else if (stderrTail !== '') open?.reject(parseComplaint(stderrTail));
    else open?.reject(isHolding ? new DiedHolding() : new ProcessDied('update-ref ended'));
  };
  process.ended.then(() => died(), died);
  return {
    process,
    commit: async (commands) => {
      if (!process.stdin.writable) throw new ProcessDied('update-ref ended');
      open = Promise.withResolvers<void>();
      process.stdin.write(`start\n${commands}prepare\n`);
      const tooLong = (): void => process.kill(new GitError('limit', 'update-ref took too long'));
      const timer = setTimeout(tooLong, answerTimeout);
      try {
        await open.promise;
      } finally {
        clearTimeout(timer);
        open = null;
      }
    },
  };
};

const buildLine = ({ ref, old, new: next }: RefUpdate): string => {
  const isGood = isFullRef(ref) && isOid(next) && (old === null || isOid(old));
  if (!isGood) throw new GitError('invalid', 'not a change of a ref');
  if (next === zeroOid) return `delete ${ref}${old === null || old === zeroOid ? '' : ` ${old}`}\n`;
  return `update ${ref} ${next}${old === null ? '' : ` ${old}`}\n`;
};

export const makeUpdateRefPool = (exec: Exec): UpdateRefPool => {
  const pool = new ProcessPool<UpdateRef>({
    open: async (dir) => await openUpdateRef(exec, dir),
    maxRequestsPerWorker: 1,
    maxWorkersPerRepository: 4,
    maxWorkers: 32,
    idleSeconds: 20,
  });
  return {
    update: async (dir, updates) => {
      const text = updates.map(buildLine).join('');
      await pool.use(dir, async ({ commit }) => await commit(text));
    },
    endWorkers: async (dir) => await pool.endWorkers(dir),
    stop: async () => await pool.stop(),
  };
};
