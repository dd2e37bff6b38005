/** Fetches and clones. */
import { PassThrough, Readable, type Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { join } from 'node:path';
import type { Context, StreamHandler, StreamIo } from '../context.ts';
import { file, flag } from '../exec/arguments.ts';
import { type Hidden, hiddenFor, hiddenKey, hidingRefs } from '../exec/env.ts';
import type { GitProcess } from '../exec/spawn.ts';
import { transferShares } from '../exec/transfer_shares.ts';
import { GitError } from '../failure.ts';
import type { Client } from '../protocol.ts';
import { capabilities, protocolVariables, readableDir, writeAdvertisement } from './advertise.ts';
import { boundTalk, wholeRequest } from './bounded.ts';
import { bringHead } from './head.ts';
import { listRefs } from './ls_refs.ts';
import { awaitOpening, skipAdvertisement } from './opening.ts';
import { ownFolder } from './own_folder.ts';
import { type PackCache, type Source, openPackCache, packBytes } from './pack_cache.ts';
import { packet } from './pktline.ts';
import { type Request, fetchOf, requestsOf } from './request.ts';
import { forbiddenWant } from './wants.ts';
import { type Watch, watch } from './watch.ts';

/** Seconds that one may take, however well it goes on. */
export const longestTransfer = 4 * 3600;

const cacheBudget = 2 * 2 ** 30;
const cacheAge = 5 * 60_000;

const caches = new Map<string, Promise<PackCache>>();

const cacheOf = async (root: string): Promise<PackCache> => {
  const folder = join(ownFolder(root), 'packs');
  const cache = caches.get(root) ?? openPackCache({ folder, budget: cacheBudget, age: cacheAge });
  caches.set(root, cache);
  return await cache;
};

const startUploadPack = async (
  context: Context,
  {
    dir,
    protocol,
    stateless,
    hidden,
    client,
    signal,
  }: Pick<Serving, 'dir' | 'hidden' | 'client'> & {
    protocol: 0 | 1 | 2;
    stateless: boolean;
    signal: AbortSignal;
  },
): Promise<GitProcess> =>
  await context.exec.start({
    command: 'upload-pack',
    args: [...(stateless ? [flag('--stateless-rpc')] : []), flag('--strict'), file(dir)],
    dir: null,
    slot: 'transfer',
    shares: transferShares('read', client),
    seconds: longestTransfer,
    signal,
    variables: protocolVariables(protocol),
    config: hidingRefs(hidden),
  });

/** For answers that are kept. */
const succeeded = async (git: GitProcess): Promise<void> => {
  const { code } = await git.ended;
  if (code !== 0) throw new GitError('internal', `git upload-pack ended with ${code}: ${git.complaint()}`);
};

/** Runs git for one request. Its output is to be read to the end. */
const runRequest = async (
  { context, ...place }: Omit<Serving, 'output' | 'watching'>,
  request: Request,
  signal: AbortSignal,
): Promise<{ output: Readable; ended: Promise<void> }> => {
  const git = await startUploadPack(context, { ...place, protocol: 2, stateless: true, signal });
  git.stdin.end(request.bytes);
  const ended = succeeded(git);
  ended.catch(() => undefined);
  return { output: git.stdout, ended };
};

type Serving = {
  context: Context;
  dir: string;
  /** What is not for this one. */
  hidden: Hidden;
  client: Client | null;
  output: Writable;
  watching: Watch;
};

const copy = async ({ output, watching }: Serving, source: Readable): Promise<void> =>
  await pipeline(source, watching.toClient(), output, { end: false });

/** What git says before it fails tells the client why. */
const answerByGit = async (serving: Serving, request: Request): Promise<void> => {
  const { context, watching } = serving;
  const { output, ended } = await runRequest(serving, request, watching.signal);
  await copy(serving, output);
  await ended.catch((error: Error) => context.log('a fetch failed', { error: error.message }));
};

/** Whether the answer to it is the same for all who ask it. */
const isAlike = (request: Request): boolean => {
  const { done, hasHaves, asksRefs } = fetchOf(request);
  return done && !hasHaves && !asksRefs;
};

const keyOf = ({ context, hidden }: Pick<Serving, 'context' | 'hidden'>, request: Request): string =>
  `${context.dir} ${hiddenKey(hidden)} ${request.key}`;

const isCacheable = async (context: Context, dir: string, request: Request): Promise<boolean> => {
  if (!isAlike(request) || dir !== context.dir) return false;
  return (await packBytes(dir)) <= cacheBudget / 4;
};

const answerFetch = async (serving: Serving, request: Request): Promise<void> => {
  const { context, dir, hidden, output, watching } = serving;
  const { wants } = fetchOf(request);
  const refused = await forbiddenWant({ ...context, dir, signal: watching.signal }, wants, hidden);
  if (refused !== null) {
    output.write(packet(`ERR upload-pack: not our ref ${refused}`));
    return;
  }
  const cache = await cacheOf(context.root);
  const key = keyOf(serving, request);
  if (cache.holds(key) || (await isCacheable(context, dir, request))) {
    const source: Source = async (signal) => await runRequest(serving, request, signal);
    await cache.serve(key, output, source, watching);
    return;
  }
  await answerByGit(serving, request);
};

/** A conversation, of which not all need a look at the disk. */
type Talk = Omit<Serving, 'dir'> & {
  /** Where the repository is, made ready. */
  place: () => Promise<string>;
};

/** Whether the answer lies ready: then the repository is not looked at. */
const isHeld = async (talk: Talk, request: Request): Promise<boolean> => {
  if (request.command !== 'fetch' || !isAlike(request)) return false;
  return (await cacheOf(talk.context.root)).holds(keyOf(talk, request));
};

/** Whether the conversation goes on after it. */
const answerRequest = async (talk: Talk, request: Request): Promise<boolean> => {
  const { context, output, watching } = talk;
  watching.touch();
  if (request.command === null) return false;
  if (await isHeld(talk, request)) {
    await answerFetch({ ...talk, dir: context.dir }, request);
    return true;
  }
  const serving = { ...talk, dir: await talk.place() };
  if (request.command === 'ls-refs') {
    output.write(await listRefs({ ...context, signal: watching.signal }, serving, request));
    return true;
  }
  if (request.command === 'fetch') {
    await answerFetch(serving, request);
    return true;
  }
  await answerByGit(serving, request);
  return true;
};

/** A conversation of requests, each of which stands for itself: over SSH several of them, over HTTP one. */
const converse = async (talk: Talk, io: StreamIo, stateless: boolean): Promise<void> => {
  if (!stateless) io.output.write(await capabilities(talk.context));
  // What still comes, the connection throws away: to destroy it here costs an error and its stack.
  for await (const request of requestsOf(io.input.iterator({ destroyOnReturn: false }))) {
    const goesOn = await answerRequest(talk, request);
    if (!goesOn || stateless) return;
  }
};

/** The last that a client says before it is sent a pack, in versions 0 and 1. */
const donePacket = '0009done\n';

/** Notes when a client has said all. */
const noteDone = (watching: Watch): ((chunk: Buffer) => void) => {
  let tail = '';
  return (chunk) => {
    tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - donePacket.length))).slice(
      -donePacket.length,
    );
    if (tail === donePacket) watching.endInput();
  };
};

/** Passes bytes both ways between git and the client. */
const relay = async (
  git: GitProcess,
  { input, output }: Pick<StreamIo, 'input' | 'output'>,
  watching: Watch,
  skipped: Transform,
): Promise<void> => {
  // Git may end before it has read all: what is left is of no use to anybody.
  const sent = pipeline(input, watching.fromClient(noteDone(watching)), boundTalk(), git.stdin);
  await Promise.all([
    pipeline(git.stdout, skipped, watching.toClient(), output, { end: false }),
    git.ended,
    sent.catch(() => undefined),
  ]);
};

type OldTalk = Talk & { protocol: 0 | 1; stateless: boolean };

/** Versions 0 and 1. Git starts once the client has begun to say what it wants. */
const converseOld = async (talk: OldTalk, io: StreamIo): Promise<void> => {
  const { watching, protocol, stateless, hidden } = talk;
  const { signal } = watching;
  const context = { ...talk.context, signal };
  const dir = await talk.place();
  if (stateless) {
    const input = Readable.from([await wholeRequest(io.input, watching)]);
    const git = await startUploadPack(context, { ...talk, dir, signal });
    await relay(git, { input, output: io.output }, watching, new PassThrough());
    return;
  }
  const service = 'git-upload-pack';
  await writeAdvertisement(context, { service, dir, protocol, hidden, stateless }, io.output);
  if (!(await awaitOpening(io.input, watching, false))) return;
  const git = await startUploadPack(context, { ...talk, dir, signal });
  await relay(git, io, watching, skipAdvertisement());
};

export const uploadPack: StreamHandler<'transport.upload_pack'> = async (params, context, io) => {
  const { protocol, stateless, head, client = null } = params;
  const hidden = hiddenFor(params);
  let placed: Promise<string> | null = null;
  const find = async (): Promise<string> => {
    const dir = await readableDir(context);
    if (dir === context.dir) await bringHead(dir, head);
    return dir;
  };
  const place = async (): Promise<string> => await (placed ??= find());
  const watching = watch(context.signal);
  const talk: Talk = { context, place, hidden, client, output: io.output, watching };
  try {
    if (protocol === 2) await converse(talk, io, stateless);
    else await converseOld({ ...talk, protocol, stateless }, io);
    return {};
  } finally {
    watching.end();
  }
};
