/** `POST /jobs/request`: hands a job to a runner, or holds the request until there is one. */
import type { Call } from '../../../core/access/call.ts';
import { toFlag } from '../../../platform/db/schema/column_types.ts';
import { tooManyRequests } from '../../../platform/errors.ts';
import { Answer } from '../../../platform/http/endpoint.ts';
import { rateCounter } from '../../../platform/http/rate_counter.ts';
import { authenticateRunner } from '../../runners/registration/authenticate.ts';
import { recordContact } from '../../runners/record_contact.ts';
import type { RunnerRow } from '../../runners/rules.ts';
import type { Claimed } from './claim_jobs.ts';
import { handleLostJob, returnToQueue } from '../undelivered_jobs.ts';
import { cacheJob } from '../running_job_cache.ts';
import { type Payload, type Unrunnable, buildPayload } from '../payload/build_payload.ts';
import { getQueue } from './job_queue.ts';
import { hasFeature } from '../runner_info.ts';
import { loadTaker } from './load_runner_facts.ts';
import { failClaimed } from './fail_unrunnable_jobs.ts';

export type JobRequest = {
  token?: string | undefined;
  system_id?: string | undefined;
  last_update?: string | undefined;
  info?: unknown;
};

/** Formats the runner's `last_update`, which changes with the jobs it may take. */
const formatLastUpdate = ({ id, updated_at }: RunnerRow): string =>
  `${id.toString(16)}x${updated_at.toString(16)}`;

/** Aborts when the client disconnects. */
const makeDisconnectSignal = ({ incoming }: Call): { signal: AbortSignal; forget: () => void } => {
  const gone = new AbortController();
  const { socket } = incoming;
  const end = (): void => gone.abort();
  socket.once('close', end);
  if (socket.destroyed) end();
  return { signal: gone.signal, forget: () => void socket.off('close', end) };
};

const nothing = (last_update: string): Answer =>
  new Answer(null, { status: 204, headers: { 'x-gitlab-last-update': last_update } });

/** `info`: what the runner reports of itself. */
type RequestContext = { runner: RunnerRow; info: unknown; last_update: string };

/** Builds the payload. If that fails, the job becomes pending again. */
const tryPayload = async (
  call: Call,
  claimed: Claimed,
  { runner, info }: RequestContext,
): Promise<Payload | Unrunnable | null> => {
  const { platform } = call;
  const { id } = claimed.job;
  try {
    return await buildPayload(call, claimed, runner, info);
  } catch (error) {
    platform.log.warn({ err: error, job: id }, 'building a job payload failed');
    await handleLostJob(platform, id, (job) => job.token_hash === claimed.token_hash);
    return null;
  }
};

/** Returns null for a job that no runner can run, which has failed now. */
const answerWithJob = async (
  call: Call,
  claimed: Claimed,
  asking: RequestContext,
): Promise<Answer | null> => {
  const { platform } = call;
  const { last_update } = asking;
  const payload = await tryPayload(call, claimed, asking);
  if (payload === null) return nothing(last_update);
  if ('unrunnable' in payload) {
    await failClaimed(platform, claimed, payload.unrunnable);
    return null;
  }
  const {
    token_hash,
    job: { id },
  } = claimed;
  cacheJob(platform, token_hash, id, payload.secrets);
  return new Answer(payload.text, {
    status: 201,
    headers: { 'x-gitlab-last-update': last_update },
    onSent: (isWhole) => {
      if (isWhole) return;
      returnToQueue(platform, id, token_hash).catch((error: unknown) =>
        platform.log.warn({ err: error, job: id }, 'returning an undelivered job to the queue failed'),
      );
    },
  });
};

/**
 * Rate limit of empty answers with a new `last_update`, which make a runner poll again immediately. Beyond it, the
 * runner waits like others. In a fleet of hundreds with one token, each runner polls every three seconds.
 */
const emptyAnswers = rateCounter({ maxEvents: 1_000, within: 10_000 });

const maxSystemIdLength = 255;

/**
 * Answers a paused runner immediately.
 * @throws Failure 429 if it polls too often
 */
const answerPaused = (name: string, now: number, last_update: string): Answer => {
  if (emptyAnswers.count(name, now)) throw tooManyRequests(10);
  return nothing(last_update);
};

export const requestJob = async (call: Call, request: JobRequest): Promise<Answer> => {
  const { platform, now } = call;
  const runner = await authenticateRunner(call, request.token);
  const { info, system_id } = request;
  recordContact(platform, runner, { system_id, info, ip: call.ip });
  const last_update = formatLastUpdate(runner);
  const name = String(runner.id);
  if (runner.active === 0) return answerPaused(name, now, last_update);
  const taker = await loadTaker(call.db, runner, {
    system_id: system_id?.slice(0, maxSystemIdLength) ?? null,
    cancels_gracefully: toFlag(hasFeature(info, 'cancel_gracefully')),
  });
  const { signal, forget } = makeDisconnectSignal(call);
  const hold = request.last_update === last_update || emptyAnswers.isOver(name, now);
  try {
    for (;;) {
      const claimed = await getQueue(platform).poll(taker, { hold, signal });
      if (claimed === null) break;
      const answer = await answerWithJob(call, claimed, { runner, info, last_update });
      if (answer !== null) return answer;
    }
    if (!hold) emptyAnswers.count(name, now);
    return nothing(last_update);
  } finally {
    forget();
  }
};
