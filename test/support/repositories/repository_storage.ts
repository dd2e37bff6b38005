/** A repository storage in this process: its methods as functions, its repositories in a temporary folder. */
import { hash, randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, before } from 'node:test';
import type { Context, StreamIo } from '../../../gitd/handler_types.ts';
import { makeExec } from '../../../gitd/exec/spawn.ts';
import { methods } from '../../../gitd/methods.ts';
import { makePools } from '../../../gitd/pool/pools.ts';
import type { Method, Methods, Stream, Streams } from '../../../gitd/protocol.ts';
import { resolveRepositoryPath } from '../../../gitd/disk/storage_paths.ts';
import { writeMarker } from '../../../gitd/disk/instance_marker.ts';
import { streams } from '../../../gitd/streams.ts';
import { type WorkTree, git, newWorkTree, tryGit } from './git.ts';

type Without<P> = Omit<P, 'repository'>;

/** One repository of the storage. */
export type TestRepository = {
  /** The repository as the protocol names it. */
  name: string;
  dir: string;
  context: Context;
  ask: <M extends Method>(
    method: M,
    params: Without<Methods[M]['params']>,
    body?: Buffer,
  ) => Promise<Methods[M]['result']>;
  /** The bytes that come with the response. */
  askBody: <M extends Method>(method: M, params: Without<Methods[M]['params']>) => Promise<Buffer>;
  /** Everything that the stream sends. */
  read: <N extends Stream>(
    stream: N,
    params: Without<Streams[N]['params']>,
    input?: Uint8Array,
  ) => Promise<Buffer>;
  /** Runs git in the repository. */
  git: (...args: string[]) => Promise<string>;
  /** Commits these files one after another, pushes them to `main` and returns the commits' ids. */
  commitAll: (...commits: Record<string, string>[]) => Promise<string[]>;
  /** Errors of `git fsck`, without dangling objects. */
  fsck: () => Promise<string>;
};

export type TestStorage = { root: string; repository: () => TestRepository; stop: () => Promise<void> };

type Handler = (
  params: object,
  context: Context,
  body: Buffer,
) => Promise<{ result: never; body?: Uint8Array }>;
type StreamHandler = (params: object, context: Context, io: StreamIo) => Promise<object | null>;

const handlers = methods as unknown as Record<Method, Handler>;
const streamHandlers = streams as unknown as Record<Stream, StreamHandler>;

/** @property mark puts the marker of an instance into the folder, before anything else happens */
const makeStorage = (): TestStorage & { mark: () => Promise<void> } => {
  const root = mkdtempSync(join(tmpdir(), 'gantry-storage-'));
  const instance = randomUUID();
  const exec = makeExec();
  const pools = makePools(exec);
  let made = 0;

  const repository = (): TestRepository => {
    made += 1;
    const digest = hash('sha256', String(made), 'hex');
    const name = `@hashed/${digest.slice(0, 2)}/${digest.slice(2, 4)}/${digest}.git`;
    const dir = resolveRepositoryPath(root, name);
    const log = (): void => undefined;
    const context: Context = {
      root,
      exec,
      pools,
      log,
      dir,
      owner: { instance },
      written: false,
      signal: new AbortController().signal,
    };
    const call = async (method: Method, params: object, body: Buffer = Buffer.alloc(0)) =>
      await handlers[method]({ ...params, repository: name }, context, body);
    return {
      name,
      dir,
      context,
      ask: async (method, params, body) => (await call(method, params, body)).result,
      askBody: async (method, params) => Buffer.from((await call(method, params)).body ?? []),
      read: async (stream, params, input = Buffer.alloc(0)) => {
        const output = new PassThrough();
        const never = async (): Promise<never> => await Promise.reject(new Error('nobody answers'));
        const io = { input: Readable.from([input]), output, ask: never, notify: never };
        const run = streamHandlers[stream]({ ...params, repository: name }, context, io);
        const [bytes] = await Promise.all([buffer(output), run.finally(() => output.end())]);
        return bytes;
      },
      git: async (...args) => await git(dir, `--git-dir=${dir}`, ...args),
      commitAll: async (...commits) => {
        await call('repository.create', {});
        const tree = await newWorkTree();
        const ids: string[] = [];
        for (const [index, files] of commits.entries()) ids.push(await tree.commit(`commit ${index}`, files));
        await tree.git('push', '--quiet', dir, 'HEAD:refs/heads/main');
        await tree.remove();
        return ids;
      },
      fsck: async () => {
        const { stdout, stderr } = await tryGit(dir, [
          `--git-dir=${dir}`,
          'fsck',
          '--strict',
          '--no-dangling',
        ]);
        return `${stdout}${stderr}`.replaceAll(/^notice: .*\n/gm, '');
      },
    };
  };

  return {
    root,
    repository,
    mark: async () => await writeMarker(root, instance),
    stop: async () => {
      await pools.stop();
      await exec.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
};

export const startTestStorage = async (): Promise<TestStorage> => {
  const { mark, ...storage } = makeStorage();
  await mark();
  return storage;
};

/** Makes a storage for the tests of the calling file: hooks start it before them, and stop it after them. */
export const useStorage = (): TestStorage => {
  const { mark, ...storage } = makeStorage();
  before(mark);
  after(async () => await storage.stop());
  return storage;
};

/** As `useStorage`, with one repository, which is empty before the first test. */
export const useRepository = (): { storage: TestStorage; repository: TestRepository } => {
  const storage = useStorage();
  const repository = storage.repository();
  before(async () => void (await repository.ask('repository.create', {})));
  return { storage, repository };
};

/** Creates an empty repository and a work tree whose commits it can fetch. */
export const newRepositoryAndTree = async (
  storage: TestStorage,
): Promise<{ repository: TestRepository; tree: WorkTree }> => {
  const repository = storage.repository();
  await repository.ask('repository.create', {});
  return { repository, tree: await newWorkTree() };
};
