/** The five calls that track time, for any noun. */
import { type Call, actorOf, endpoint } from '../access/call.ts';
import { parseDuration } from '../duration.ts';
import { forbidden, invalid } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { id, idOrPath, object, text } from '../http/schema.ts';
import { timeEstimateText, timeSpentResetText, timeSpentText } from '../issuables/system_note_text.ts';
import { type Change, type Found, type Noun, eventKind } from '../issuables/target.ts';
import { addSystemNotes } from '../notes/system.ts';
import { timeStats, timeStatsShape } from './json.ts';
import { logTime, longestSpent } from './log.ts';

type Stats = { time_estimate: number; total_time_spent: number };

const findToUpdate = async (noun: Noun, call: Call, params: Record<string, unknown>): Promise<Found> => {
  const found = await findByParams(noun, call, params);
  if (!noun.mayUpdate(call, found)) throw forbidden();
  return found;
};

const findByParams = async (noun: Noun, call: Call, params: Record<string, unknown>): Promise<Found> =>
  await noun.find(call, params['id'] as number | string, params[noun.param] as number);

/** Stores a change of the times with its note and event; nothing where nothing changes. */
const change = async (
  noun: Noun,
  call: Call,
  { target }: Found,
  next: (now: Stats) => Step | null,
): Promise<Stats> =>
  await call.write(async (tx) => {
    const now = await noun.times(tx, target);
    const step = next(now);
    if (step === null) return now;
    const { user } = actorOf(call);
    if (step.spent !== undefined) await logTime(tx, target, user.id, step.spent);
    await noun.change(tx, target, { ...step.change, updated_at: tx.now });
    await addSystemNotes(tx, user.id, target, [step.note]);
    await recordEvent(tx, actorOf(call), {
      kind: eventKind(noun, 'time_tracked'),
      project_id: target.project_id,
      target_type: target.type,
      target_id: target.id,
      data: step.change,
    });
    return { ...now, ...step.change };
  });

type Step = {
  change: Pick<Change, 'time_estimate' | 'total_time_spent'>;
  note: string | null;
  spent?: number;
};

const badEstimate = () => invalid({ time_estimate: ['has an invalid format'] });
const badSpent = () => invalid({ time_spent: ['has an invalid format'] });

const estimateStep = (duration: string) => {
  const seconds = parseDuration(duration);
  if (seconds === null || seconds <= 0) throw badEstimate();
  return (now: Stats): Step | null =>
    now.time_estimate === seconds
      ? null
      : { change: { time_estimate: seconds }, note: timeEstimateText(now.time_estimate, seconds) };
};

const resetEstimateStep = (now: Stats): Step | null =>
  now.time_estimate === 0
    ? null
    : { change: { time_estimate: 0 }, note: timeEstimateText(now.time_estimate, 0) };

const spendStep = (duration: string) => {
  const seconds = parseDuration(duration);
  if (seconds === null) throw badSpent();
  return (now: Stats): Step => {
    const total = now.total_time_spent + seconds;
    if (total < 0) throw invalid({ time_spent: ['Time to subtract exceeds the total time spent'] });
    if (total > longestSpent) throw badSpent();
    return { change: { total_time_spent: total }, note: timeSpentText(seconds), spent: seconds };
  };
};

const resetSpentStep = (now: Stats): Step | null =>
  now.total_time_spent === 0
    ? null
    : {
        change: { total_time_spent: 0 },
        note: timeSpentResetText(now.total_time_spent),
        spent: -now.total_time_spent,
      };

export const timeTrackingRoutes = (noun: Noun) => {
  const path = `/projects/:id/${noun.segment}/:${noun.param}`;
  const params = { id: idOrPath('project'), [noun.param]: id(`iid of the ${noun.word}`) };
  const shared = { area: noun.segment, audience: 'user' as const, reply: timeStatsShape };
  const duration = text({ description: 'such as 3h30m' });

  const withDuration = (
    name: string,
    summary: string,
    stepOf: (duration: string) => (now: Stats) => Step | null,
  ) =>
    endpoint({
      method: 'POST',
      path: `${path}/${name}`,
      summary,
      ...shared,
      params: object({ ...params, duration }),
      handle: async (call, given) => {
        const found = await findToUpdate(noun, call, given);
        return timeStats(await change(noun, call, found, stepOf(given.duration)));
      },
    });

  const reset = (name: string, summary: string, step: (now: Stats) => Step | null) =>
    endpoint({
      method: 'POST',
      path: `${path}/${name}`,
      summary,
      ...shared,
      params: object(params),
      handle: async (call, given) => {
        const found = await findToUpdate(noun, call, given);
        return timeStats(await change(noun, call, found, step));
      },
    });

  return [
    withDuration('time_estimate', `Set the time estimate of a ${noun.word}`, estimateStep),
    reset('reset_time_estimate', `Reset the time estimate of a ${noun.word}`, resetEstimateStep),
    withDuration('add_spent_time', `Add spent time to a ${noun.word}`, spendStep),
    reset('reset_spent_time', `Reset the spent time of a ${noun.word}`, resetSpentStep),
    endpoint({
      method: 'GET',
      path: `${path}/time_stats`,
      summary: `Time stats of a ${noun.word}`,
      ...shared,
      params: object(params),
      handle: async (call, given) => timeStats((await findByParams(noun, call, given)).target),
    }),
  ];
};
