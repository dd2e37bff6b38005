/** Reads objects through `git cat-file --batch-command`, about a hundred times faster than a process each. */
import { flag } from '../exec/arguments.ts';
import type { Exec, GitProcess } from '../exec/spawn.ts';
import { GitError, noRepository } from '../git_error.ts';
import { repositoryExists } from '../disk/storage_paths.ts';
import { isFullRef } from '../ref_names.ts';
import { ProcessPool, ProcessDied } from './process_pool.ts';

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';
export type ObjectInfo = { id: string; type: ObjectType; size: number };
export type GitObject = ObjectInfo & { data: Buffer };

/** A queryable name: a full id, an id peeled to a type, a short id (4 to 39 digits) of a commit, or a full ref. */
export type ObjectName = string;

export type CatFilePool = {
  /** null if the object does not exist. */
  info: (dir: string, name: ObjectName) => Promise<ObjectInfo | null>;
  /** Reads an object; null if there is none. @throws GitError `too_large` for one of more than `max` bytes */
  contents: (dir: string, name: ObjectName, max: number) => Promise<GitObject | null>;
  endWorkers: (dir: string) => Promise<void>;
  stop: () => Promise<void>;
};

type Request = {
  /** Maximum bytes of the object; null: read the header only. */
  max: number | null;
  resolve: (object: GitObject | null) => void;
  reject: (error: Error) => void;
};

type CatFile = { process: GitProcess; ask: (line: string, max: number | null) => Promise<GitObject | null> };

const namePattern = /^[0-9a-f]{40}(?:\^\{(?:commit|tree)\})?$|^[0-9a-f]{4,39}\^\{commit\}$/;
/** If no such ref exists, git reads `x-1-gabcdef` as output of `describe`, and answers with that object. */
const describePattern = /-g[0-9a-f]{4,40}$/i;

/** Returns whether cat-file reads the name as a ref, not as an expression. */
export const isQueryable = (name: ObjectName): boolean =>
  namePattern.test(name) || (isFullRef(name) && !describePattern.test(name));

const headerPattern = /^([0-9a-f]{40}) (commit|tree|blob|tag) (\d+)$/;
const maxHeaderBytes = 4096;
/** Milliseconds without a byte of an answer before a process is killed. */
const answerTimeout = 20_000;
const newline = 10;

type Body = { info: ObjectInfo; missing: number; chunks: Buffer[] };

/** Parses answers and passes them to the requests, in their order. */
const makeParser = (queue: Request[], fail: (error: GitError) => void) => {
  let rest: Buffer = Buffer.alloc(0);
  let body: Body | null = null;

  const onHeader = (line: string): void => {
    const request = queue[0];
    const match = headerPattern.exec(line);
    if (request === undefined) return fail(new GitError('internal', 'cat-file sent an unrequested answer'));
    if (match === null) {
      queue.shift();
      return request.resolve(null); // missing, or ambiguous
    }
    const [, id = '', type = '', size = ''] = match;
    const info: ObjectInfo = { id, type: type as ObjectType, size: Number(size) };
    if (request.max === null) {
      queue.shift();
      return request.resolve({ ...info, data: Buffer.alloc(0) });
    }
    if (info.size > request.max) {
      queue.shift();
      request.reject(new GitError('too_large', `an object of ${info.size} bytes is too large`));
      return fail(new GitError('unavailable', 'a large object blocked the process'));
    }
    body = { info, missing: info.size + 1, chunks: [] };
  };

  const takeBody = (open: Body): void => {
    const part = rest.subarray(0, open.missing);
    rest = rest.subarray(part.length);
    open.missing -= part.length;
    open.chunks.push(part);
    if (open.missing > 0) return;
    body = null;
    const whole = open.chunks.length === 1 ? part : Buffer.concat(open.chunks);
    queue.shift()?.resolve({ ...open.info, data: whole.subarray(0, open.info.size) });
  };

  return (chunk: Buffer): void => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length > 0) {
      if (body !== null) {
        takeBody(body);
        continue;
      }
      const end = rest.indexOf(newline);
      if (end < 0 && rest.length > maxHeaderBytes)
        return fail(new GitError('internal', 'cat-file produced unexpected output'));
      if (end < 0) return;
      const line = rest.toString('latin1', 0, end);
      rest = rest.subarray(end + 1);
      onHeader(line);
    }
  };
};

const openCatFile = async (exec: Exec, dir: string): Promise<CatFile> => {
  const args = [flag('--batch-command')];
  const process = await exec.start({ command: 'cat-file', args, dir, slot: null, seconds: null });
  const queue: Request[] = [];
  const refuseAll = (): void => {
    for (const { reject } of queue.splice(0)) reject(new ProcessDied('cat-file ended'));
  };
  const stuck = (): void => process.kill(new GitError('limit', 'cat-file does not answer'));
  let watch: NodeJS.Timeout | undefined;
  const observe = (): void => {
    if (queue.length === 0) {
      clearTimeout(watch);
      watch = undefined;
    } else if (watch === undefined) watch = setTimeout(stuck, answerTimeout);
    else watch.refresh();
  };
  const parse = makeParser(queue, (error) => process.kill(error));
  process.stdout.on('data', (chunk: Buffer) => {
    parse(chunk);
    observe();
  });
  process.ended.then(refuseAll, refuseAll).finally(observe);
  return {
    process,
    ask: async (line, max) => {
      const { promise, resolve, reject } = Promise.withResolvers<GitObject | null>();
      if (!process.stdin.writable) throw new ProcessDied('cat-file ended');
      queue.push({ max, resolve, reject });
      observe();
      process.stdin.write(line);
      return await promise;
    },
  };
};

const checked = (name: ObjectName): string => {
  if (isQueryable(name)) return name;
  throw new GitError('invalid', 'not the name of an object');
};

/**
 * Returns the object. A process keeps running in a repository whose folder is gone, and reports every object as
 * missing.
 * @throws GitError `no_repository` for a missing object of a missing repository
 */
const requireRepository = async (dir: string, object: GitObject | null): Promise<GitObject | null> => {
  if (object === null && !(await repositoryExists(dir))) throw noRepository();
  return object;
};

export const makeCatFilePool = (exec: Exec): CatFilePool => {
  const pool = new ProcessPool<CatFile>({
    open: async (dir) => await openCatFile(exec, dir),
    maxRequestsPerWorker: 32,
    maxWorkersPerRepository: 4,
    maxWorkers: 64,
    idleSeconds: 20,
  });
  return {
    info: async (dir, name) => {
      const line = `info ${checked(name)}\n`;
      return await requireRepository(dir, await pool.use(dir, async ({ ask }) => await ask(line, null)));
    },
    contents: async (dir, name, max) => {
      const line = `contents ${checked(name)}\n`;
      return await requireRepository(dir, await pool.use(dir, async ({ ask }) => await ask(line, max)));
    },
    endWorkers: async (dir) => await pool.endWorkers(dir),
    stop: async () => await pool.stop(),
  };
};
