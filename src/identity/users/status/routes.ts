/** Status that users set for themselves: an emoji, a message, and whether they are busy. */
import { type Call, requireUser } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import type { UserStatusesTable } from '../../../platform/db/schema/identity.ts';
import { notFound } from '../../../platform/errors.ts';
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
import { formatTimeOrNull } from '../../../platform/time.ts';
import { loadUser, userIdByName } from '../queries.ts';
import { loadUserStatus } from './load_status.ts';
import { defaultEmoji, maxMessageLength, setStatus, statusDurationNames } from './set_status.ts';

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

const loadStatus = async (call: Call, userId: number) => {
  const status = await loadUserStatus(call, userId);
  return status === undefined ? none : statusJson(status);
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
  clear_status_after: optional(clearable(oneOf(statusDurationNames, { description: 'default: never' }))),
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
    const { emoji, message, availability = 'not_set', clear_status_after } = params;
    const clearAfter = clear_status_after ?? null;
    await setStatus(call, { emoji: emoji ?? '', message: message ?? '', availability, clearAfter });
    return await loadStatus(call, requireUser(call).id);
  },
});

export const statusRoutes = [own, ofUser, set];
