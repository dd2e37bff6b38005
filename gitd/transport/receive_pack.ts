/** Pushes. */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Context, StreamHandler, StreamIo } from '../context.ts';
import { reached } from '../effects.ts';
import { file, flag } from '../exec/arguments.ts';
import type { GitProcess } from '../exec/spawn.ts';
import { GitError } from '../failure.ts';
import type { PushedRef, Quota, Streams } from '../protocol.ts';
import { refsChanged } from '../refs/generation.ts';
import { ensureRepository } from '../storage/create.ts';
import { clearLocksOnce, removeLocksOfDead } from '../storage/locks.ts';
import { protocolVariables } from './advertise.ts';
import { boundCommands } from './bounded.ts';
import { madeUpdates, sweepQuarantines, syncPushed } from './durable.ts';
import { type Gate, makeGate } from './gate.ts';
import { type HookAnswer, type HookCall, serveHooks } from './hook_channel.ts';
import { inspectPush, largestFile, sizeWith } from './inspect_push.ts';
import { hooksFolder } from './own_folder.ts';
import { refProblems } from './push_rules.ts';
import { seenRefs } from './seen_refs.ts';
import { longestTransfer } from './upload_pack.ts';
import { type Watch, watch } from './watch.ts';

type Params = Streams['transport.receive_pack']['params'];

/** Pushes that are under way, by repository. */
const underWay = new Map<string, number>();

/** One push, from its first byte to its last. */
type Push = {
  context: Context;
  io: StreamIo;
  quota: Quota;
  watching: Watch;
  gate: Gate;
  /** From then on, what the caller sends is thrown away. */
  stopInput: () => void;
  /** What the service has let through; null: nothing yet. */
  accepted: PushedRef[] | null;
  /** The service knows what has come of it. */
  told: boolean;
  /** The hook that is being answered, or was last. */
  answering: Promise<unknown>;
};

const refuse = (lines: string[]): HookAnswer => ({ code: 1, lines });

/** Asks the service. From a yes on, the push goes on whether or not somebody still listens. */
const beforeReceive = async (push: Push, call: HookCall): Promise<HookAnswer> => {
  const { io, quota, watching } = push;
  reached('push.received');
  // All objects are here. What a client sends behind them must not stand before the service's answer.
  push.stopInput();
  const context = { ...push.context, signal: watching.signal };
  const problems = refProblems(call.updates, (await seenRefs(context)).folded);
  if (problems !== null) return refuse(problems);
  const updates = await inspectPush(context, call.quarantine, call.updates);
  const largest_file = quota.file_bytes === null ? 0 : await largestFile(context, call.quarantine);
  const repository_size = quota.repository_bytes === null ? 0 : await sizeWith(context, call.quarantine);
  watching.touch();
  const { refuse: lines } = await io.ask({
    ask: 'push',
    updates,
    push_options: call.push_options,
    largest_file,
    repository_size,
  });
  if (lines !== null) return refuse(lines);
  push.accepted = updates;
  push.gate.hold();
  return { code: 0, lines: [] };
};

const tell = async (push: Push, updates: PushedRef[]): Promise<string[]> => {
  const { context, io } = push;
  reached('refs.committed');
  refsChanged(context.dir);
  await syncPushed(context.dir, updates);
  reached('refs.durable');
  const { messages } = await io.tell({ tell: 'pushed', updates });
  push.told = true;
  return messages;
};

/** Those of the updates that git has made, as it says. */
const afterReceive = async (push: Push, call: HookCall): Promise<HookAnswer> => {
  const made = new Set(call.updates.map(({ ref }) => ref));
  const lines = await tell(push, push.accepted?.filter(({ ref }) => made.has(ref)) ?? []);
  push.gate.release();
  return { code: 0, lines };
};

/**
 * Where git has ended without `post-receive`: looks itself what has come of the push. The service may just be about to
 * let it through, though git was killed meanwhile.
 */
const settle = async (push: Push): Promise<void> => {
  await push.answering;
  const { accepted, context } = push;
  if (accepted === null || push.told) return;
  const made = await madeUpdates(context, accepted);
  await removeLocksOfDead(
    context.dir,
    accepted.filter((update) => !made.includes(update)),
  );
  await tell(push, made);
};

const answerHook = async (push: Push, call: HookCall): Promise<HookAnswer> => {
  try {
    return await (call.hook === 'pre-receive' ? beforeReceive(push, call) : afterReceive(push, call));
  } catch (error) {
    push.context.log('a push failed', { hook: call.hook, error: String(error) });
    const isTooMuch = error instanceof GitError && error.kind === 'limit';
    return refuse([
      isTooMuch ? 'The push is too large to be checked.' : 'Gantry cannot take the push at the moment.',
    ]);
  }
};

const hookHandler =
  (push: Push) =>
  async (call: HookCall): Promise<HookAnswer> => {
    const answered = answerHook(push, call);
    push.answering = answered;
    return await answered;
  };

const startReceivePack = async (push: Push, { protocol, stateless }: Params): Promise<GitProcess> => {
  const { context, quota, watching } = push;
  const hooks = await hooksFolder(context);
  return await context.exec.start({
    command: 'receive-pack',
    args: [...(stateless ? [flag('--stateless-rpc')] : []), file(context.dir)],
    dir: null,
    slot: 'transfer',
    seconds: longestTransfer,
    signal: watching.signal,
    variables: protocolVariables(protocol),
    config: [
      ['core.hooksPath', hooks],
      // Packs stay packs: one file to sync, in one folder.
      ['receive.unpackLimit', '1'],
      ...(quota.push_bytes === null ? [] : [['receive.maxInputSize', String(quota.push_bytes)] as const]),
    ],
    withChannel: true,
  });
};

/**
 * What a client sends to see whether we are there is a flush packet and nothing else: no push, and no reason to make
 * a repository.
 */
const isProbe = async (input: Readable): Promise<boolean> => {
  const chunks: Buffer[] = [];
  let length = 0;
  while (length < 5 && !input.readableEnded) {
    const chunk = input.read() as Buffer | null;
    if (chunk === null) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      input.once('readable', resolve).once('end', resolve).once('error', reject);
      // oxlint-disable-next-line no-await-in-loop -- what comes next, comes later
      await promise.finally(() => input.off('readable', resolve).off('end', resolve).off('error', reject));
      continue;
    }
    chunks.push(chunk);
    length += chunk.length;
  }
  const bytes = Buffer.concat(chunks, length);
  if (length <= 4) return true;
  input.unshift(bytes);
  return false;
};

const leaveRepository = async ({ dir }: Context): Promise<void> => {
  const left = (underWay.get(dir) ?? 1) - 1;
  if (left > 0) {
    underWay.set(dir, left);
    return;
  }
  underWay.delete(dir);
  await sweepQuarantines(dir);
};

const run = async (push: Push, params: Params): Promise<void> => {
  const { io, watching, gate } = push;
  const git = await startReceivePack(push, params);
  push.stopInput = () => {
    io.input.unpipe();
    io.input.resume();
    git.stdin.end();
  };
  if (git.channel !== null) serveHooks(git.channel, hookHandler(push));
  pipeline(io.input, watching.through(), boundCommands(), git.stdin).catch(() => undefined);
  const answered = pipeline(git.stdout, watching.through(), gate.stream, io.output, { end: false });
  const [ended] = await Promise.allSettled([git.ended, answered]);
  // Whoever called may have gone, or git been killed: what it did before counts all the same.
  await settle(push);
  if (ended.status === 'rejected') throw ended.reason as Error;
  await answered;
};

export const receivePack: StreamHandler<'transport.receive_pack'> = async (params, context, io) => {
  if (params.stateless && (await isProbe(io.input))) return {};
  await ensureRepository(context);
  await clearLocksOnce(context.dir);
  const watching = watch(null);
  const push: Push = {
    context,
    io,
    quota: params.quota,
    watching,
    gate: makeGate(async () => await settle(push)),
    stopInput: () => undefined,
    accepted: null,
    told: false,
    answering: Promise.resolve(),
  };
  const onGone = (): void => {
    if (push.accepted === null) watching.stop(new GitError('unavailable', 'the caller has gone'));
  };
  context.signal.addEventListener('abort', onGone, { once: true });
  if (context.signal.aborted) onGone();
  underWay.set(context.dir, (underWay.get(context.dir) ?? 0) + 1);
  try {
    await run(push, params);
    return {};
  } finally {
    watching.end();
    context.signal.removeEventListener('abort', onGone);
    await leaveRepository(context);
  }
};
