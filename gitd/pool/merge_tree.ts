/**
 * Checks through `git merge-tree --stdin` whether two commits merge: faster than a process each. Its objects go to a
 * folder that is removed with the process.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { flag, oid } from '../exec/arguments.ts';
import type { ExitStatus, Exec, GitProcess } from '../exec/spawn.ts';
import { GitError } from '../git_error.ts';
import { quarantineEnvironment } from '../odb/quarantine.ts';
import type { Oid } from '../protocol_records.ts';
import { ProcessPool, ProcessDied } from './process_pool.ts';

/** An unclean merge may have no conflicting path. */
export type MergeCheck = { clean: boolean; conflicts: string[] };

export type MergeTreePool = {
  /**
   * Checks a merge and lists the conflicting paths. Null: this machine's git does not answer line by line, so each
   * check needs a process.
   * @throws GitError `limit`, `too_large`
   */
  check: (dir: string, sides: [Oid, Oid], signal: AbortSignal) => Promise<MergeCheck | null>;
  endWorkers: (dir: string) => Promise<void>;
  stop: () => Promise<void>;
};

type MergeTree = { process: GitProcess; ask: (line: string, seconds: number) => Promise<MergeCheck> };

const usualSeconds = 20;
/** Milliseconds for the very first answer: git before 2.49 buffers its answers unless `stdbuf` prevents that. */
const trialSeconds = 5;
/** Failed first answers before the pool is disabled. */
const maxFailures = 3;
const maxAnswerBytes = 8 * 2 ** 20;
/** Merges before a process is replaced by one with an empty folder. */
const maxMerges = 200;

const flags = [
  flag('--write-tree'),
  flag('--stdin'),
  flag('-z'),
  flag('--name-only'),
  flag('--no-messages'),
  flag('--allow-unrelated-histories'),
];

/** Parses `1 NUL <tree> NUL NUL`, or `0 NUL <tree> NUL <name> NUL ... NUL`. */
const parseAnswer = (text: string): MergeCheck => {
  const [clean, , ...names] = text.split('\0');
  return { clean: clean === '1', conflicts: names.filter((name) => name !== '') };
};

const makeEndFailure = ({ stderrTail }: GitProcess): Error =>
  new ProcessDied(`merge-tree ended: ${stderrTail()}`);

const openMergeTree = async (exec: Exec, dir: string): Promise<MergeTree> => {
  const objects = await mkdtemp(join(dir, 'objects', 'tmp_objdir-gantry-'));
  const removeObjects = async (): Promise<void> => rm(objects, { recursive: true, force: true });
  const start = async (): Promise<GitProcess> =>
    exec.start({
      command: 'merge-tree',
      args: flags,
      dir,
      slot: null,
      seconds: null,
      variables: quarantineEnvironment(dir, objects),
      config: [['core.fsync', 'none']],
      unbuffered: true,
    });
  const started = await start().catch(async (error: unknown) => {
    await removeObjects();
    throw error;
  });
  // Resolves when the process has ended and its folder is removed.
  const end = async (): Promise<ExitStatus> => {
    try {
      return await started.ended;
    } finally {
      await removeObjects();
    }
  };
  const process: GitProcess = { ...started, ended: end() };
  let merges = 0;
  let open: PromiseWithResolvers<MergeCheck> | null = null;
  let text = '';
  process.stdout.setEncoding('utf8');
  process.stdout.on('data', (chunk: string) => {
    text += chunk;
    if (text.length > maxAnswerBytes) process.kill(new GitError('too_large', 'too many conflicts'));
    else if (text.endsWith('\0\0')) {
      open?.resolve(parseAnswer(text));
      text = '';
    }
  });
  const died = (why?: unknown): void => open?.reject(why instanceof GitError ? why : makeEndFailure(process));
  process.ended.then(() => died(), died);
  const ask = async (line: string, seconds: number): Promise<MergeCheck> => {
    if (!process.stdin.writable) throw new ProcessDied('merge-tree ended');
    open = Promise.withResolvers<MergeCheck>();
    const tooLong = (): void => process.kill(new GitError('limit', 'the merge took too long'));
    const timer = setTimeout(tooLong, seconds * 1000);
    process.stdin.write(line);
    try {
      return await open.promise;
    } finally {
      clearTimeout(timer);
      open = null;
      merges += 1;
      if (merges >= maxMerges) process.kill();
    }
  };
  return { process, ask };
};

export const makeMergeTreePool = (exec: Exec): MergeTreePool => {
  const pool = new ProcessPool<MergeTree>({
    open: async (dir) => await openMergeTree(exec, dir),
    maxRequestsPerWorker: 1,
    maxWorkersPerRepository: 2,
    maxWorkers: 16,
    idleSeconds: 20,
  });
  /** Processes that ended before the first answer of all. */
  let failures = 0;
  let works = false;

  const attempt = async (dir: string, line: string, signal: AbortSignal): Promise<MergeCheck> => {
    const seconds = works ? usualSeconds : trialSeconds;
    const work = async ({ process, ask }: MergeTree): Promise<MergeCheck> => {
      const onAbort = (): void => process.kill(signal.reason as GitError);
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        return await ask(line, seconds);
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    };
    return await pool.use(dir, work);
  };

  return {
    check: async (dir, sides, signal) => {
      if (!works && failures >= maxFailures) return null;
      const line = `${sides.map(oid).join(' ')}\n`;
      const didWork = works;
      try {
        const result = await attempt(dir, line, signal);
        works = true;
        return result;
      } catch (error) {
        signal.throwIfAborted();
        const isFinal = error instanceof GitError && (didWork || error.kind === 'no_repository');
        if (isFinal) throw error;
        failures += 1;
        return null;
      }
    },
    endWorkers: async (dir) => await pool.endWorkers(dir),
    stop: async () => await pool.stop(),
  };
};
