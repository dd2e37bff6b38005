/**
 * `git merge-tree --stdin`: whether two commits merge, some times as fast as with a process each. What it writes goes
 * to a folder that goes when it goes.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { flag, oid } from '../exec/arguments.ts';
import type { Ended, Exec, GitProcess } from '../exec/spawn.ts';
import { GitError } from '../failure.ts';
import { quarantineEnvironment } from '../odb/quarantine.ts';
import type { Oid } from '../protocol.ts';
import { Keep, ProcessDied } from './keep.ts';

/** What is not clean may have no name to tell. */
export type Checked = { clean: boolean; conflicts: string[] };

export type MergeTreePool = {
  /**
   * Whether they merge, and the names in conflict. null: this machine's git does not answer line by line, so that a
   * process each is needed.
   * @throws GitError `limit`, `too_large`
   */
  check: (dir: string, sides: [Oid, Oid], signal: AbortSignal) => Promise<Checked | null>;
  forget: (dir: string) => Promise<void>;
  stop: () => Promise<void>;
};

type MergeTree = { process: GitProcess; ask: (line: string, seconds: number) => Promise<Checked> };

const usualSeconds = 20;
/** For the first answer of all: git before 2.49 keeps its answers to itself unless `stdbuf` hinders it. */
const trialSeconds = 5;
/** Until it is given up for good. */
const mostFailures = 3;
const longestAnswer = 8 * 2 ** 20;
/** Then a new one begins with an empty folder. */
const mostMerges = 200;

const flags = [
  flag('--write-tree'),
  flag('--stdin'),
  flag('-z'),
  flag('--name-only'),
  flag('--no-messages'),
  flag('--allow-unrelated-histories'),
];

/** `1 NUL <tree> NUL NUL`, or `0 NUL <tree> NUL <name> NUL ... NUL`. */
const parseAnswer = (text: string): Checked => {
  const [clean, , ...names] = text.split('\0');
  return { clean: clean === '1', conflicts: names.filter((name) => name !== '') };
};

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
  // Ended with its folder: who waits for the one waits for the other.
  const end = async (): Promise<Ended> => {
    try {
      return await started.ended;
    } finally {
      await removeObjects();
    }
  };
  const process: GitProcess = { ...started, ended: end() };
  let merges = 0;
  let open: PromiseWithResolvers<Checked> | null = null;
  let text = '';
  process.stdout.setEncoding('utf8');
  process.stdout.on('data', (chunk: string) => {
    text += chunk;
    if (text.length > longestAnswer) process.kill(new GitError('too_large', 'too many conflicts'));
    else if (text.endsWith('\0\0')) {
      open?.resolve(parseAnswer(text));
      text = '';
    }
  });
  const died = (why?: unknown): void =>
    open?.reject(why instanceof GitError ? why : new ProcessDied(`merge-tree ended: ${process.complaint()}`));
  process.ended.then(() => died(), died);
  const ask = async (line: string, seconds: number): Promise<Checked> => {
    if (!process.stdin.writable) throw new ProcessDied('merge-tree ended');
    open = Promise.withResolvers<Checked>();
    const tooLong = (): void => process.kill(new GitError('limit', 'the merge took too long'));
    const timer = setTimeout(tooLong, seconds * 1000);
    process.stdin.write(line);
    try {
      return await open.promise;
    } finally {
      clearTimeout(timer);
      open = null;
      merges += 1;
      if (merges >= mostMerges) process.kill();
    }
  };
  return { process, ask };
};

export const makeMergeTreePool = (exec: Exec): MergeTreePool => {
  const keep = new Keep<MergeTree>({
    open: async (dir) => await openMergeTree(exec, dir),
    shares: 1,
    each: 2,
    most: 16,
    idleSeconds: 20,
  });
  /** How often it ended without an answer before it had ever given one. */
  let failures = 0;
  let works = false;

  const attempt = async (dir: string, line: string, signal: AbortSignal): Promise<Checked> => {
    const seconds = works ? usualSeconds : trialSeconds;
    const work = async ({ process, ask }: MergeTree): Promise<Checked> => {
      const onAbort = (): void => process.kill(signal.reason as GitError);
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        return await ask(line, seconds);
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    };
    return await keep.use(dir, work, true);
  };

  return {
    check: async (dir, sides, signal) => {
      if (!works && failures >= mostFailures) return null;
      const line = `${sides.map(oid).join(' ')}\n`;
      const didWork = works;
      try {
        const found = await attempt(dir, line, signal);
        works = true;
        return found;
      } catch (error) {
        signal.throwIfAborted();
        const isTold = error instanceof GitError && (didWork || error.kind === 'no_repository');
        if (isTold) throw error;
        failures += 1;
        return null;
      }
    },
    forget: async (dir) => await keep.forget(dir),
    stop: async () => await keep.stop(),
  };
};
