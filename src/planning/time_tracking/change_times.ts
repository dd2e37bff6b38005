/** Changes the estimated or spent time of a target. */
import { type Call, requireActor } from '../../core/access/call.ts';
import { parseDuration } from '../../platform/duration.ts';
import type { Tx } from '../../platform/db/open.ts';
import { invalid } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { timeEstimateText, timeSpentResetText, timeSpentText } from '../issuables/text/system_note_text.ts';
import {
  type Change,
  type LoadedTarget,
  type Noun,
  eventKind,
  maxSpentSeconds,
} from '../issuables/target.ts';
import { addSystemNotes } from '../notes/add_system_notes.ts';
import { type Spending, logTime } from './log_time.ts';

export type Stats = { time_estimate: number; total_time_spent: number };

/** Values before and after, for the change log. */
const logTimes = (before: Stats, change: Step['change']): object =>
  Object.fromEntries(
    Object.entries(change).map(([name, value]) => [name, [before[name as keyof Stats], value]]),
  );

/** Stores a change of the times with its note and event. Does nothing if nothing changes. */
export const changeTimes = async (
  noun: Noun,
  call: Call,
  { target }: LoadedTarget,
  next: (now: Stats, tx: Tx) => Step | null | Promise<Step | null>,
): Promise<Stats> =>
  await call.write(async (tx) => {
    const now = await noun.times(tx, target);
    const step = await next(now, tx);
    if (step === null) return now;
    const { user } = requireActor(call);
    if (step.spent !== undefined) await logTime(tx, target, user.id, step.spent);
    if (step.deletedEntry !== undefined)
      await tx.db.deleteFrom('timelogs').where('id', '=', step.deletedEntry).execute();
    await noun.change(tx, target, { ...step.change, updated_at: tx.now });
    await addSystemNotes(tx, user.id, target, [step.note]);
    await recordEvent(tx, requireActor(call), {
      kind: eventKind(noun, 'time_tracked'),
      project_id: target.project_id,
      target_type: target.type,
      target_id: target.id,
      data: logTimes(now, step.change),
      transient: { updated_at: [now.updated_at, tx.now] },
    });
    return { ...now, ...step.change };
  });

export type Step = {
  change: Pick<Change, 'time_estimate' | 'total_time_spent'>;
  note: string | null;
  spent?: Spending;
  /** Id of an entry of time spent. */
  deletedEntry?: number;
};

const badEstimate = () => invalid({ time_estimate: ['has an invalid format'] });
const badSpent = () => invalid({ time_spent: ['has an invalid format'] });

/** @param seconds 0 removes the estimate */
export const estimateTo =
  (seconds: number) =>
  (now: Stats): Step | null =>
    now.time_estimate === seconds
      ? null
      : { change: { time_estimate: seconds }, note: timeEstimateText(now.time_estimate, seconds) };

export const estimateStep = (duration: string) => {
  const seconds = parseDuration(duration);
  if (seconds === null || seconds <= 0) throw badEstimate();
  return estimateTo(seconds);
};

export const resetEstimateStep = estimateTo(0);

/** What the API and pages say about an entry, in addition to its duration. */
export type SpentDetails = Pick<Spending, 'summary' | 'spent_on'>;

/** @param seconds negative to subtract */
export const spend =
  (seconds: number, details: SpentDetails = {}) =>
  (now: Stats): Step => {
    const total = now.total_time_spent + seconds;
    if (total < 0) throw invalid({ time_spent: ['Time to subtract exceeds the total time spent'] });
    if (total > maxSpentSeconds) throw badSpent();
    return {
      change: { total_time_spent: total },
      note: timeSpentText(seconds),
      spent: { ...details, seconds },
    };
  };

export const spendStep = (duration: string, details?: SpentDetails) => {
  const seconds = parseDuration(duration);
  if (seconds === null) throw badSpent();
  return spend(seconds, details);
};

export const resetSpentStep = (now: Stats): Step | null =>
  now.total_time_spent === 0
    ? null
    : {
        change: { total_time_spent: 0 },
        note: timeSpentResetText(now.total_time_spent),
        spent: { seconds: -now.total_time_spent },
      };
