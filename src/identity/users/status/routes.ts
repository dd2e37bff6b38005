/** Status that users set for themselves: an emoji, a message, and whether they are busy. */
import { type Call, requireActor, requireUser } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import type { UserStatusesTable } from '../../../platform/db/schema/identity.ts';
import { invalid, notFound } from '../../../platform/errors.ts';
import {
  clearable,
  idOrPath,
  nullable,
  object,
  oneOf,
  optional,
  string,
  text,
  timestamp,
} from '../../../platform/http/schema.ts';
import { escapeHtml } from '../../../platform/escape_html.ts';
import {
  dayMilliseconds,
  formatTimeOrNull,
  hourMilliseconds,
  minuteMilliseconds,
} from '../../../platform/time.ts';
import { loadUser, userIdByName } from '../queries.ts';

const durations = {
  '30_minutes': 30 * minuteMilliseconds,
  '3_hours': 3 * hourMilliseconds,
  '8_hours': 8 * hourMilliseconds,
  '1_day': dayMilliseconds,
  '3_days': 3 * dayMilliseconds,
  '7_days': 7 * dayMilliseconds,
  '30_days': 30 * dayMilliseconds,
} as const;

const maxMessageLength = 100;
const defaultEmoji = 'speech_balloon';

const shape = object({
  emoji: nullable(string),
  message: nullable(string),
  availability: nullable(string),
  message_html: string,
  clear_status_at: nullable(timestamp),
});

const none = { emoji: null, message: null, availability: null, message_html: '', clear_status_at: null };

const statusJson = ({ emoji, message, availability, clear_at }: UserStatusesTable) => ({
  emoji,
  message,
  availability,
  message_html: escapeHtml(message),
  clear_status_at: formatTimeOrNull(clear_at),
});

const loadStatus = async ({ db, now }: Call, userId: number) => {
  const row = await db
    .selectFrom('user_statuses')
    .selectAll()
    .where('user_id', '=', userId)
    .executeTakeFirst();
  const isCurrent = row !== undefined && (row.clear_at === null || row.clear_at > now);
  return isCurrent ? statusJson(row) : none;
};

const own = endpoint({
  method: 'GET',
  path: '/user/status',
  summary: 'Get your status',
  area: 'users',
  audience: 'user',
  scopes: ['read_user'],
  params: object({}),
  reply: shape,
  handle: async (call) => await loadStatus(call, requireUser(call).id),
});

const ofUser = endpoint({
  method: 'GET',
  path: '/users/:id/status',
  summary: 'Get the status of a user',
  area: 'users',
  audience: 'user',
  scopes: ['read_user'],
  params: object({ id: idOrPath('id or name of the user') }),
  reply: shape,
  handle: async (call, { id }) => {
    const userId =
      typeof id === 'number' ? (await loadUser(call.db, id)).id : await userIdByName(call.db, id);
    if (userId === undefined) throw notFound('User');
    return await loadStatus(call, userId);
  },
});

const params = object({
  emoji: optional(clearable(text({ description: `name; default: ${defaultEmoji}` }))),
  message: optional(clearable(text({ description: `${maxMessageLength} characters at most` }))),
  availability: optional(oneOf(['not_set', 'busy'])),
  clear_status_after: optional(
    clearable(oneOf(Object.keys(durations) as (keyof typeof durations)[], { description: 'default: never' })),
  ),
});

const set = endpoint({
  method: 'PUT',
  path: '/user/status',
  summary: 'Set your status; clears it without emoji and message',
  area: 'users',
  audience: 'user',
  params,
  reply: shape,
  handle: async (call, params) => {
    const { availability = 'not_set', clear_status_after: after = null } = params;
    const [emoji, message] = [params.emoji ?? '', params.message ?? ''];
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
      const clear_at = after === null ? null : now + durations[after];
      const row = { user_id, emoji: emoji === '' ? defaultEmoji : emoji, message, availability, clear_at };
      await db
        .insertInto('user_statuses')
        .values(row)
        .onConflict((clash) => clash.column('user_id').doUpdateSet(row))
        .execute();
    });
    return await loadStatus(call, user_id);
  },
});

export const statusRoutes = [own, ofUser, set];
