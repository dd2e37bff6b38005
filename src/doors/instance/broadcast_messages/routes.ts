/** Broadcast messages over the API. Users read current messages that address them, administrators read all. */
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { notFound, nothingToChange } from '../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import {
  array,
  bool,
  boolean,
  clearable,
  id as idParam,
  int,
  integers,
  nullable,
  object,
  oneOf,
  optional,
  string,
  text,
  time,
  timestamp,
} from '../../../platform/http/schema.ts';
import { formatTime } from '../../../platform/time.ts';
import { listAddressed } from './list_for_viewer.ts';
import { type BroadcastMessage, findMessage, isActive, listMessages } from './queries.ts';
import { broadcastTypes, createMessage, deleteMessage, themes, updateMessage } from './write.ts';

const area = 'broadcast_messages';
const id = idParam('id of the message');
const color = (description: string) => optional(clearable(text({ description })));

/** Settings by an administrator, in addition to the message. */
const messageParams = {
  starts_at: optional(time('default: now')),
  ends_at: optional(time('default: one hour later')),
  color: color('hexadecimal; stored for clients, unused by pages'),
  font: color('hexadecimal; stored for clients, unused by pages'),
  theme: optional(oneOf(themes)),
  target_access_levels: optional(integers({ description: 'only users with one of these roles' })),
  target_path: optional(
    clearable(text({ description: 'only pages with this path; `*` matches any characters' })),
  ),
  broadcast_type: optional(oneOf(broadcastTypes)),
  dismissable: optional(boolean()),
};

const messageShape = object({
  id: int,
  message: string,
  starts_at: timestamp,
  ends_at: timestamp,
  color: nullable(string),
  font: nullable(string),
  theme: string,
  active: bool,
  target_access_levels: array(int),
  target_path: nullable(string),
  broadcast_type: string,
  dismissable: bool,
});

const messageJson = (row: BroadcastMessage, { now }: Pick<Call, 'now'>) => ({
  id: row.id,
  message: row.message,
  starts_at: formatTime(row.starts_at),
  ends_at: formatTime(row.ends_at),
  color: row.color,
  font: row.font,
  theme: row.theme,
  active: isActive(row, now),
  target_access_levels: row.target_access_levels,
  target_path: row.target_path,
  broadcast_type: row.broadcast_type,
  dismissable: row.dismissable === 1,
});

const list = endpoint({
  method: 'GET',
  path: '/broadcast_messages',
  summary: 'List current broadcast messages, or all (administrators)',
  area,
  audience: 'optional',
  list: true,
  params: object(pageParams),
  reply: messageShape,
  handle: async (call, params) => {
    const { limit, offset } = pageRequest(params);
    if (call.admin) {
      const { items, total } = await listMessages(call.db, { limit, offset });
      return { items: items.map((row) => messageJson(row, call)), total };
    }
    const addressed = await listAddressed(call);
    const items = addressed.slice(offset, offset + limit).map((row) => messageJson(row, call));
    return { items, total: addressed.length };
  },
});

const show = endpoint({
  method: 'GET',
  path: '/broadcast_messages/:id',
  summary: 'Get a broadcast message',
  area,
  audience: 'optional',
  params: object({ id }),
  reply: messageShape,
  handle: async (call, params) => {
    if (call.admin) return messageJson(await findMessage(call.db, params.id), call);
    const row = (await listAddressed(call)).find((one) => one.id === params.id);
    if (row === undefined) throw notFound('Broadcast Message');
    return messageJson(row, call);
  },
});

const create = endpoint({
  method: 'POST',
  path: '/broadcast_messages',
  summary: 'Create a broadcast message (administrators)',
  area,
  audience: 'admin',
  params: object({ message: text({ maxLength: 10_000, description: 'Markdown' }), ...messageParams }),
  reply: messageShape,
  handle: async (call, params) => messageJson(await createMessage(call, params), call),
});

const update = endpoint({
  method: 'PUT',
  path: '/broadcast_messages/:id',
  summary: 'Update a broadcast message (administrators)',
  area,
  audience: 'admin',
  params: object({ id, message: optional(text({ maxLength: 10_000 })), ...messageParams }),
  reply: messageShape,
  handle: async (call, { id: messageId, ...params }) => {
    if (Object.keys(params).length === 0) throw nothingToChange(['message', ...Object.keys(messageParams)]);
    return messageJson(await updateMessage(call, messageId, params), call);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/broadcast_messages/:id',
  summary: 'Delete a broadcast message (administrators)',
  area,
  audience: 'admin',
  params: object({ id }),
  reply: null,
  handle: async (call, params) => await deleteMessage(call, params.id),
});

export const broadcastMessageRoutes = [list, show, create, update, remove];
