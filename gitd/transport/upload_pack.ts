/** Serves fetches and clones. */
import { PassThrough, Readable, type Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Context, StreamHandler, StreamIo } from '../handler_types.ts';
import { file, flag } from '../exec/arguments.ts';
import { type HiddenRefs, chooseHiddenRefs, hiddenRefsKey, hideRefsConfig } from '../exec/hidden_refs.ts';
import type { GitProcess } from '../exec/spawn.ts';
import { transferShares } from '../exec/transfer_shares.ts';
import { GitError } from '../git_error.ts';
import { makeLruCache } from '../lru_cache.ts';
import type { Client } from '../protocol_records.ts';
import { capabilities, protocolVariables, readableDir, writeAdvertisement } from './advertise.ts';
import { limitNegotiation, wholeRequest } from './limit_request_size.ts';
import { updateHead } from './set_head.ts';
import { sendRefs } from './ls_refs.ts';
import { awaitOpening, skipAdvertisement } from './first_message.ts';
import { cacheAge, cacheBudget, maxCachedAnswers, openCache } from './open_cache.ts';
import { type Source, packBytes } from './pack_cache.ts';
import { packet } from './packet_lines.ts';
import { startPack } from './pack_stream.ts';
import { type Request, parseFetch, parsePlainFetch, readRequests } from './parse_request.ts';
import { findForbiddenWant } from '../refs/check_wants.ts';
import { type Watchdog, startWatchdog } from '../exec/transfer_watchdog.ts';

/** Time limit of a transfer, even with progress. */
export const maxTransferSeconds = 4 * 3600;

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
    seconds: maxTransferSeconds,
    signal,
    variables: protocolVariables(protocol),
    config: hideRefsConfig(hidden),
  });

/** Time limit of cached packs. */
const succeeded = async (git: GitProcess): Promise<void> => {
  const { code } = await git.ended;
  if (code !== 0) throw new GitError('internal', `git upload-pack ended with ${code}: ${git.stderrTail()}`);
};

/** Runs git for one request. The caller must read its output to the end. */
const runRequest = async (
  { context, ...place }: Omit<Serving, 'output' | 'watching'>,
  request: Request,
  signal: AbortSignal,
): Promise<{ output: Readable; ended: Promise<void> }> => {
  const plain = request.command === 'fetch' ? parsePlainFetch(request) : null;
  if (plain !== null) {
    const limits = { client: place.client, seconds: maxTransferSeconds, signal };
    return await startPack({ ...context, dir: place.dir }, plain, limits);
  }
  const git = await startUploadPack(context, { ...place, protocol: 2, stateless: true, signal });
  git.stdin.end(request.bytes);
  const ended = succeeded(git);
  ended.catch(() => undefined);
  return { output: git.stdout, ended };
};

type Serving = {
  context: Context;
  dir: string;
  /** Refs hidden from the client. */
  hidden: HiddenRefs;
  client: Client | null;
  output: Writable;
  watching: Watchdog;
};

const copy = async ({ output, watching }: Serving, source: Readable): Promise<void> =>
  await pipeline(source, watching.toClient(), output, { end: false });

/** Output before a failure contains the reason for the client. */
const answerByGit = async (serving: Serving, request: Request): Promise<void> => {
  const { context, watching } = serving;
  const { output, ended } = await runRequest(serving, request, watching.signal);
  await copy(serving, output);
  await ended.catch((error: Error) => context.log('a fetch failed', { error: error.message }));
};

/** True if the answer is the same for all clients. */
const isAlike = (request: Request): boolean => {
  const { done, hasHaves, asksRefs } = parseFetch(request);
  return done && !hasHaves && !asksRefs;
};

const buildCacheKey = ({ context, hidden }: Pick<Serving, 'context' | 'hidden'>, request: Request): string =>
  `${context.dir} ${hiddenRefsKey(hidden)} ${request.key}`;

/** Packs that were sent in the last minutes, by the key of the cache. Filling it costs more than many clones save. */
const sentPacks = makeLruCache<number>(maxCachedAnswers * 4);

const wasSentBefore = (key: string): boolean => {
  const sentAt = sentPacks.get(key) ?? -Infinity;
  sentPacks.set(key, performance.now());
  return performance.now() - sentAt < cacheAge;
};

/** Whether to store the pack: one that is the same for all clients, asked for again, and not too large. */
const isCacheable = async (
  { context, dir }: Pick<Serving, 'context' | 'dir'>,
  request: Request,
  key: string,
): Promise<boolean> => {
  if (!isAlike(request) || dir !== context.dir || !wasSentBefore(key)) return false;
  return (await packBytes(dir)) <= cacheBudget / 4;
};

const answerFetch = async (serving: Serving, request: Request): Promise<void> => {
  const { context, dir, hidden, output, watching } = serving;
  const { wants } = parseFetch(request);
  const refused = await findForbiddenWant({ ...context, dir, signal: watching.signal }, wants, hidden);
  if (refused !== null) {
    output.write(packet(`ERR upload-pack: not our ref ${refused}`));
    return;
  }
  const cache = await openCache(context.root);
  const key = buildCacheKey(serving, request);
  if (cache.holds(key) || (await isCacheable(serving, request, key))) {
    const source: Source = async (signal) => await runRequest(serving, request, signal);
    await cache.serve(key, output, source, watching);
    return;
  }
  await answerByGit(serving, request);
};

/** State of a conversation; the repository is opened only when needed. */
type Conversation = Omit<Serving, 'dir'> & {
  /** Prepares the repository and returns its folder. */
  place: () => Promise<string>;
};

/** True if the answer is cached, so that the repository is not read. */
const isHeld = async (talk: Conversation, request: Request): Promise<boolean> => {
  if (request.command !== 'fetch' || !isAlike(request)) return false;
  return (await openCache(talk.context.root)).holds(buildCacheKey(talk, request));
};

/** Serves a request; returns whether the client may send another one. */
const answerRequest = async (talk: Conversation, request: Request): Promise<boolean> => {
  const { context, watching } = talk;
  watching.touch();
  if (request.command === null) return false;
  if (await isHeld(talk, request)) {
    await answerFetch({ ...talk, dir: context.dir }, request);
    return true;
  }
  const serving = { ...talk, dir: await talk.place() };
  if (request.command === 'ls-refs') {
    await sendRefs({ ...context, signal: watching.signal }, serving, request);
    return true;
  }
  if (request.command === 'fetch') {
    await answerFetch(serving, request);
    return true;
  }
  await answerByGit(serving, request);
  return true;
};

/** Serves a conversation of independent requests: several over SSH, one over HTTP. */
const converse = async (talk: Conversation, io: StreamIo, stateless: boolean): Promise<void> => {
  if (!stateless) io.output.write(await capabilities(talk.context));
  // The connection discards further input; destroying it here would cost an error and its stack.
  for await (const request of readRequests(io.input.iterator({ destroyOnReturn: false }))) {
    const goesOn = await answerRequest(talk, request);
    if (!goesOn || stateless) return;
  }
};

/** The last message of a client before the pack, in versions 0 and 1. */
const donePacket = '0009done\n';

/** Detects the end of a client's input. */
const noteDone = (watching: Watchdog): ((chunk: Buffer) => void) => {
  let tail = '';
  return (chunk) => {
    tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - donePacket.length))).slice(
      -donePacket.length,
    );
    if (tail === donePacket) watching.endInput();
  };
};

/** Pipes bytes both ways between git and the client. */
const relay = async (
  git: GitProcess,
  { input, output }: Pick<StreamIo, 'input' | 'output'>,
  watching: Watchdog,
  skipped: Transform,
): Promise<void> => {
  // git may end before it has read everything; the rest is not needed.
  const sent = pipeline(input, watching.fromClient(noteDone(watching)), limitNegotiation(), git.stdin);
  await Promise.all([
    pipeline(git.stdout, skipped, watching.toClient(), output, { end: false }),
    git.ended,
    sent.catch(() => undefined),
  ]);
};

type OldConversation = Conversation & { protocol: 0 | 1; stateless: boolean };

/** Serves versions 0 and 1. Starts git after the client's first packets. */
const converseOld = async (talk: OldConversation, io: StreamIo): Promise<void> => {
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
  await writeAdvertisement(context, { service, dir, protocol, hidden, stateless }, { ...io, watching });
  if (!(await awaitOpening(io.input, watching, false))) return;
  const git = await startUploadPack(context, { ...talk, dir, signal });
  await relay(git, io, watching, skipAdvertisement());
};

export const uploadPack: StreamHandler<'transport.upload_pack'> = async (params, context, io) => {
  const { protocol, stateless, head, client = null } = params;
  const hidden = chooseHiddenRefs(params);
  let placed: Promise<string> | null = null;
  const find = async (): Promise<string> => {
    const dir = await readableDir(context);
    if (dir === context.dir) await updateHead(dir, head);
    return dir;
  };
  const place = async (): Promise<string> => await (placed ??= find());
  const watching = startWatchdog(context.signal);
  const talk: Conversation = { context, place, hidden, client, output: io.output, watching };
  try {
    if (protocol === 2) await converse(talk, io, stateless);
    else await converseOld({ ...talk, protocol, stateless }, io);
    return {};
  } finally {
    watching.dispose();
  }
};
