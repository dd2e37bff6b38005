import { type Call, requireActor, requireUser } from '../../../core/access/call.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import { invalid } from '../../../platform/errors.ts';
import { dayMilliseconds, hourMilliseconds, minuteMilliseconds } from '../../../platform/time.ts';

const statusDurations = {
  '30_minutes': 30 * minuteMilliseconds,
  '3_hours': 3 * hourMilliseconds,
  '8_hours': 8 * hourMilliseconds,
  '1_day': dayMilliseconds,
  '3_days': 3 * dayMilliseconds,
  '7_days': 7 * dayMilliseconds,
  '30_days': 30 * dayMilliseconds,
} as const;

export type StatusDuration = keyof typeof statusDurations;

export const statusDurationNames = Object.keys(statusDurations) as StatusDuration[];

export const maxMessageLength = 100;
export const defaultEmoji = 'speech_balloon';

type NewStatus = {
  emoji: string;
  message: string;
  availability: 'not_set' | 'busy';
  /** null: it stays until it is changed. */
  clearAfter: StatusDuration | null;
};

/** Sets the caller's status; clears it if all of it is empty. @throws Failure 400 */
export const setStatus = async (call: Call, status: NewStatus): Promise<void> => {
  const { emoji, message, availability, clearAfter } = status;
  if ([...message].length > maxMessageLength) {
    throw invalid({ message: [`is too long (maximum is ${maxMessageLength} characters)`] });
  }
  if (!/^[a-z0-9_+-]*$/.test(emoji)) throw invalid({ emoji: ['is not a valid emoji name'] });
  const user_id = requireUser(call).id;
  const isEmpty = emoji === '' && message === '' && availability === 'not_set';
  await call.write(async (tx) => {
    const { db, now } = tx;
    await recordEvent(tx, requireActor(call), {
      kind: 'user.status',
      project_id: null,
      target_type: 'User',
      target_id: user_id,
      data: { availability, is_cleared: isEmpty },
    });
    await db.deleteFrom('user_statuses').where('user_id', '=', user_id).execute();
    if (isEmpty) return;
    const clear_at = clearAfter === null ? null : now + statusDurations[clearAfter];
    const row = { user_id, emoji: emoji === '' ? defaultEmoji : emoji, message, availability, clear_at };
    await db
      .insertInto('user_statuses')
      .values(row)
      .onConflict((clash) => clash.column('user_id').doUpdateSet(row))
      .execute();
  });
};
