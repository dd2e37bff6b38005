/** Topics of the instance. Everyone can read the topics visible to them; only administrators can change topics. */
import { endpoint } from '../../core/access/endpoint.ts';
import { avatarParam, withAvatar } from '../../identity/avatars/store_avatar.ts';
import { nothingToChange } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { boolean, clearable, id as idParam, object, optional, text } from '../../platform/http/schema.ts';
import { createTopic } from './create.ts';
import { deleteTopic } from './delete.ts';
import { mergeTopics } from './merge.ts';
import { updateTopic } from './update.ts';
import { topicJson, topicShape } from './json.ts';
import { findTopic, listTopics } from './queries.ts';

const area = 'topics';
const id = idParam('id of the topic');

const descriptionParams = {
  title: optional(text({ description: 'name to display (default: `name`)' })),
  description: optional(clearable(text({ maxLength: 1024 }))),
  avatar: avatarParam,
};

const list = endpoint({
  method: 'GET',
  path: '/topics',
  summary: 'List topics, most projects first',
  area,
  audience: 'optional',
  list: true,
  params: object({
    search: optional(text({ description: 'part of the name' })),
    without_projects: optional(boolean({ description: 'only topics without projects' })),
    ...pageParams,
  }),
  reply: topicShape,
  handle: async (call, params) => {
    const { items, total } = await listTopics(call, params, pageRequest(params));
    return { items: items.map((row) => topicJson(row, call)), total };
  },
});

const show = endpoint({
  method: 'GET',
  path: '/topics/:id',
  summary: 'Get a topic',
  area,
  audience: 'optional',
  params: object({ id }),
  reply: topicShape,
  handle: async (call, params) => topicJson(await findTopic(call, params.id), call),
});

const create = endpoint({
  method: 'POST',
  path: '/topics',
  summary: 'Create a topic (administrators)',
  area,
  audience: 'admin',
  params: object({ name: text(), ...descriptionParams }),
  reply: topicShape,
  handle: async (call, { avatar: file, ...columns }) => {
    const topicId = await withAvatar(
      call.platform,
      file,
      async (avatar) => await createTopic(call, { ...columns, ...avatar }),
    );
    return topicJson(await findTopic(call, topicId), call);
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/topics/:id',
  summary: 'Update a topic (administrators)',
  area,
  audience: 'admin',
  params: object({ id, name: optional(text()), ...descriptionParams }),
  reply: topicShape,
  handle: async (call, { id: topicId, avatar: file, ...columns }) => {
    if (file === undefined && Object.keys(columns).length === 0) {
      throw nothingToChange(['name', 'title', 'description', 'avatar']);
    }
    await findTopic(call, topicId);
    await withAvatar(
      call.platform,
      file,
      async (avatar) => await updateTopic(call, topicId, { ...columns, ...avatar }),
    );
    return topicJson(await findTopic(call, topicId), call);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/topics/:id',
  summary: 'Delete a topic (administrators)',
  area,
  audience: 'admin',
  params: object({ id }),
  reply: null,
  handle: async (call, params) => await deleteTopic(call, params.id),
});

const merge = endpoint({
  method: 'POST',
  path: '/topics/merge',
  summary: 'Merge a topic into another (administrators)',
  area,
  audience: 'admin',
  params: object({
    source_topic_id: idParam('topic to merge and delete'),
    target_topic_id: idParam('topic to merge into'),
  }),
  reply: topicShape,
  handle: async (call, { source_topic_id, target_topic_id }) => {
    await mergeTopics(call, source_topic_id, target_topic_id);
    return topicJson(await findTopic(call, target_topic_id), call);
  },
});

export const topicRoutes = [list, show, create, update, remove, merge];
