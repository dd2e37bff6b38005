/** Serves pushes. */
import { pipeline } from 'node:stream/promises';
import type { Context, StreamHandler, StreamIo } from '../handler_types.ts';
import { reachFaultPoint } from '../fault_points.ts';
import { file, flag } from '../exec/arguments.ts';
import type { GitProcess } from '../exec/spawn.ts';
import { transferShares } from '../exec/transfer_shares.ts';
import { GitError, isGitError } from '../git_error.ts';
import type { PushedRef, Quota, Streams } from '../protocol.ts';
import { raiseGeneration } from '../refs/ref_generation.ts';
import { ensureRepository } from '../storage/create_repository.ts';
import { clearLocksOnce, removeLocksOfDead } from '../storage/stale_locks.ts';
import { protocolVariables, readableDir, writeAdvertisement } from './advertise.ts';
import { limitCommands } from './limit_request_size.ts';
import { listAppliedUpdates, sweepQuarantines, syncPushed } from './sync_push.ts';
import { type ReportHold, makeReportHold } from './hold_report.ts';
import { type HookAnswer, type HookCall, serveHooks } from './hook_channel.ts';
import { markForcedUpdates, measureLargestFile, measureWithNewPack } from './forced_updates_and_sizes.ts';
import { awaitOpening } from './first_message.ts';
import { hooksFolder } from './transport_folder.ts';
import { refProblems } from './push_rules.ts';
import { loadVisibleTips } from '../refs/visible_tips.ts';
import { maxTransferSeconds } from './upload_pack.ts';
import { type Watchdog, startWatchdog } from '../exec/transfer_watchdog.ts';

type Params = Streams['transport.receive_pack']['params'];

/** Number of pushes in progress, by repository. */
const underWay = new Map<string, number>();

/** State of one push. */
type Push = {
  context: Context;
  io: StreamIo;
  quota: Quota;
  watching: Watchdog;
  gate: ReportHold;
  /** Discards the rest of the client's input. */
  stopInput: () => void;
  /** Updates that the service has accepted; null: none yet. */
  accepted: PushedRef[] | null;
  /** The service has been notified of the result. */
  isNotified: boolean;
  /** The current or last answer to a hook. */
  answering: Promise<unknown>;
};

const refuse = (lines: string[]): HookAnswer => ({ code: 1, lines });

/** Asks the service to accept the push. Once accepted, it continues even if the client disconnects. */
const beforeReceive = async (push: Push, call: HookCall): Promise<HookAnswer> => {
  const { io, quota, watching } = push;
  reachFaultPoint('push.received');
  // All objects have arrived. Discard further input, which must not delay the answer.
  push.stopInput();
  const context = { ...push.context, signal: watching.signal };
  const problems = refProblems(call.updates, (await loadVisibleTips(context)).folded);
  if (problems !== null) return refuse(problems);
  const updates = await markForcedUpdates(context, call.quarantine, call.updates);
  const largest_file = quota.file_bytes === null ? 0 : await measureLargestFile(context, call.quarantine);
  const repository_size =
    quota.repository_bytes === null ? 0 : await measureWithNewPack(context, call.quarantine);
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

const notifyService = async (push: Push, updates: PushedRef[]): Promise<string[]> => {
  const { context, io } = push;
  reachFaultPoint('refs.committed');
  raiseGeneration(context.dir);
  await syncPushed(context.dir, updates);
  reachFaultPoint('refs.durable');
  const { messages } = await io.notify({ tell: 'pushed', updates });
  push.isNotified = true;
  return messages;
};

/** Lists the updates that git reports as applied. */
const afterReceive = async (push: Push, call: HookCall): Promise<HookAnswer> => {
  const made = new Set(call.updates.map(({ ref }) => ref));
  const lines = await notifyService(push, push.accepted?.filter(({ ref }) => made.has(ref)) ?? []);
  push.gate.release();
  return { code: 0, lines };
};

/**
 * Determines the outcome of a push if git ended without `post-receive`. The service may accept it just now, although
 * git was killed.
 */
const settle = async (push: Push): Promise<void> => {
  await push.answering;
  const { accepted, context } = push;
  if (accepted === null || push.isNotified) return;
  const made = await listAppliedUpdates(context, accepted);
  await removeLocksOfDead(
    context.dir,
    accepted.filter((update) => !made.includes(update)),
  );
  await notifyService(push, made);
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

/** Stateless over SSH, too: the advertisement has been sent already. */
const startReceivePack = async (push: Push, { protocol, client }: Params): Promise<GitProcess> => {
  const { context, quota, watching } = push;
  const hooks = await hooksFolder(context);
  return await context.exec.start({
    command: 'receive-pack',
    args: [flag('--stateless-rpc'), file(context.dir)],
    dir: null,
    slot: 'transfer',
    shares: transferShares('push', client),
    seconds: maxTransferSeconds,
    signal: watching.signal,
    variables: protocolVariables(protocol),
    config: [
      ['core.hooksPath', hooks],
      // Keep packs as packs: one file to sync, in one folder.
      ['receive.unpackLimit', '1'],
      ...(quota.push_bytes === null ? [] : [['receive.maxInputSize', String(quota.push_bytes)] as const]),
    ],
    withChannel: true,
  });
};

const leaveRepository = async ({ dir }: Context): Promise<void> => {
  const remaining = (underWay.get(dir) ?? 1) - 1;
  if (remaining > 0) {
    underWay.set(dir, remaining);
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
  pipeline(io.input, watching.fromClient(), limitCommands(), git.stdin).catch(() => undefined);
  // git answers only after it has read all it needs.
  const answered = pipeline(git.stdout, watching.toClient(watching.endInput), gate.stream, io.output, {
    end: false,
  });
  const [ended] = await Promise.allSettled([git.ended, answered]);
  // Even if the client left or git was killed, applied updates count.
  await settle(push);
  if (ended.status === 'rejected') throw ended.reason as Error;
  await answered;
};

const advertiseTo = async ({ context, io, watching }: Push, protocol: 0 | 1 | 2): Promise<void> => {
  const service = 'git-receive-pack';
  const hidden = { requests: false, pipelines: false };
  const dir = await readableDir(context);
  const advertised = { service, dir, protocol, hidden, stateless: false } as const;
  await writeAdvertisement(context, advertised, { output: io.output, watching });
};

const receive = async (push: Push, params: Params): Promise<void> => {
  const { context, io, watching } = push;
  if (!params.stateless) await advertiseTo(push, params.protocol);
  // A lone flush packet tests the connection: do not create a repository for it.
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
  const watching = startWatchdog(null);
  const push: Push = {
    context,
    io,
    quota: params.quota,
    watching,
    gate: makeReportHold(async () => await settle(push)),
    stopInput: () => undefined,
    accepted: null,
    isNotified: false,
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
    watching.dispose();
    context.signal.removeEventListener('abort', onGone);
  }
};
