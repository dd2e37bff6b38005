/** Pushes. */
import { pipeline } from 'node:stream/promises';
import type { Context, StreamHandler, StreamIo } from '../context.ts';
import { reached } from '../effects.ts';
import { file, flag } from '../exec/arguments.ts';
import type { GitProcess } from '../exec/spawn.ts';
import { transferShares } from '../exec/transfer_shares.ts';
import { GitError, isGitError } from '../failure.ts';
import type { PushedRef, Quota, Streams } from '../protocol.ts';
import { refsChanged } from '../refs/generation.ts';
import { ensureRepository } from '../storage/create.ts';
import { clearLocksOnce, removeLocksOfDead } from '../storage/locks.ts';
import { protocolVariables, readableDir, writeAdvertisement } from './advertise.ts';
import { boundCommands } from './bounded.ts';
import { madeUpdates, sweepQuarantines, syncPushed } from './durable.ts';
import { type Gate, makeGate } from './gate.ts';
import { type HookAnswer, type HookCall, serveHooks } from './hook_channel.ts';
import { inspectPush, largestFile, sizeWith } from './inspect_push.ts';
import { awaitOpening } from './opening.ts';
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
    const isTooMuch = isGitError(error, 'too_large') || isGitError(error, 'limit');
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

/** Without a conversation over SSH, too: the advertisement has been sent by then. */
const startReceivePack = async (push: Push, { protocol, client }: Params): Promise<GitProcess> => {
  const { context, quota, watching } = push;
  const hooks = await hooksFolder(context);
  return await context.exec.start({
    command: 'receive-pack',
    args: [flag('--stateless-rpc'), file(context.dir)],
    dir: null,
    slot: 'transfer',
    shares: transferShares('push', client),
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
  pipeline(io.input, watching.fromClient(), boundCommands(), git.stdin).catch(() => undefined);
  // Git answers only once it has all that it needs.
  const answered = pipeline(git.stdout, watching.toClient(watching.endInput), gate.stream, io.output, {
    end: false,
  });
  const [ended] = await Promise.allSettled([git.ended, answered]);
  // Whoever called may have gone, or git been killed: what it did before counts all the same.
  await settle(push);
  if (ended.status === 'rejected') throw ended.reason as Error;
  await answered;
};

const advertiseTo = async (context: Context, { output }: StreamIo, protocol: 0 | 1 | 2): Promise<void> => {
  const service = 'git-receive-pack';
  const hidden = { requests: false, pipelines: false };
  const dir = await readableDir(context);
  await writeAdvertisement(context, { service, dir, protocol, hidden, stateless: false }, output);
};

const receive = async (push: Push, params: Params): Promise<void> => {
  const { context, io, watching } = push;
  if (!params.stateless) await advertiseTo(context, io, params.protocol);
  // Clients send a flush packet alone to see whether we are there: no reason to make a repository.
  if (!(await awaitOpening(io.input, watching, true))) return;
  await ensureRepository(context);
  await clearLocksOnce(context.dir);
  underWay.set(context.dir, (underWay.get(context.dir) ?? 0) + 1);
  try {
    await run(push, params);
  } finally {
    await leaveRepository(context);
  }
};

export const receivePack: StreamHandler<'transport.receive_pack'> = async (params, context, io) => {
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
  try {
    await receive(push, params);
    return {};
  } finally {
    watching.end();
    context.signal.removeEventListener('abort', onGone);
  }
};
