/** A runner asks for a job; where there is none, it waits for one. */
import type { Call } from '../access/call.ts';
import { tooOften } from '../errors.ts';
import { Answer } from '../http/endpoint.ts';
import { makePace } from '../http/pace.ts';
import { authenticateRunner } from '../runners/authenticate.ts';
import { noteContact } from '../runners/contact.ts';
import type { RunnerRow } from '../runners/rules.ts';
import type { Claimed } from './claim.ts';
import { lose, takeBack } from './lost.ts';
import { remember } from './memory.ts';
import { type Payload, type Unrunnable, payloadOf } from './payload.ts';
import { queueOf } from './queue.ts';
import { hasFeature } from './runner_info.ts';
import { takerOf } from './takers.ts';
import { dropClaimed } from './unrunnable.ts';

export type Asked = {
  token?: string | undefined;
  system_id?: string | undefined;
  last_update?: string | undefined;
  info?: unknown;
};

/** Another one where the runner may take other jobs than before. */
const updateOf = ({ id, updated_at }: RunnerRow): string => `${id.toString(16)}x${updated_at.toString(16)}`;

/** Ends with the connection: there is nobody to answer any more. */
const goneSignal = ({ incoming }: Call): { signal: AbortSignal; forget: () => void } => {
  const gone = new AbortController();
  const { socket } = incoming;
  const end = (): void => gone.abort();
  socket.once('close', end);
  if (socket.destroyed) end();
  return { signal: gone.signal, forget: () => void socket.off('close', end) };
};

const nothing = (last_update: string): Answer =>
  new Answer(null, { status: 204, headers: { 'x-gitlab-last-update': last_update } });

/** `info`: what the runner tells of itself. */
type Asking = { runner: RunnerRow; info: unknown; last_update: string };

/** A job of which the runner cannot be told is taken from it again. */
const tryPayload = async (
  call: Call,
  claimed: Claimed,
  { runner, info }: Asking,
): Promise<Payload | Unrunnable | null> => {
  const { platform } = call;
  const { id } = claimed.job;
  try {
    return await payloadOf(call, claimed, runner, info);
  } catch (error) {
    platform.log.warn({ err: error, job: id }, 'a job was not put together for its runner');
    await lose(platform, id, (job) => job.token_hash === claimed.token_hash);
    return null;
  }
};

/** null: no runner can run it, and it has failed. */
const answerWith = async (call: Call, claimed: Claimed, asking: Asking): Promise<Answer | null> => {
  const { platform } = call;
  const { last_update } = asking;
  const payload = await tryPayload(call, claimed, asking);
  if (payload === null) return nothing(last_update);
  if ('unrunnable' in payload) {
    await dropClaimed(platform, claimed, payload.unrunnable);
    return null;
  }
  const {
    token_hash,
    job: { id },
  } = claimed;
  remember(platform, token_hash, id, payload.secrets);
  return new Answer(payload.text, {
    status: 201,
    headers: { 'x-gitlab-last-update': last_update },
    onSent: (isWhole) => {
      if (isWhole) return;
      takeBack(platform, id, token_hash).catch((error: unknown) =>
        platform.log.warn({ err: error, job: id }, 'a job was not taken back'),
      );
    },
  });
};

/**
 * Answers without a job, of one runner, by which it is told to ask again at once: past these it waits as others do,
 * whatever it says. A fleet of hundreds with one token asks every three seconds each.
 */
const empties = makePace({ most: 1_000, within: 10_000 });

const longestSystemId = 255;

/** One that is paused is told so at once. @throws Failure 429 where it asks without end */
const rested = (name: string, now: number, last_update: string): Answer => {
  if (empties.count(name, now)) throw tooOften(10);
  return nothing(last_update);
};

export const requestJob = async (call: Call, asked: Asked): Promise<Answer> => {
  const { platform, now } = call;
  const runner = await authenticateRunner(call, asked.token);
  const { info, system_id } = asked;
  noteContact(platform, runner, { system_id, info, ip: call.ip });
  const last_update = updateOf(runner);
  const name = String(runner.id);
  if (runner.active === 0) return rested(name, now, last_update);
  const taker = await takerOf(call.db, runner, {
    system_id: system_id?.slice(0, longestSystemId) ?? null,
    cancels_gracefully: hasFeature(info, 'cancel_gracefully') ? 1 : 0,
  });
  const { signal, forget } = goneSignal(call);
  const hold = asked.last_update === last_update || empties.isOver(name, now);
  try {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- the next only where this one cannot be run
      const claimed = await queueOf(platform).poll(taker, { hold, signal });
      if (claimed === null) break;
      // oxlint-disable-next-line no-await-in-loop
      const answer = await answerWith(call, claimed, { runner, info, last_update });
      if (answer !== null) return answer;
    }
    if (!hold) empties.count(name, now);
    return nothing(last_update);
  } finally {
    forget();
  }
};
