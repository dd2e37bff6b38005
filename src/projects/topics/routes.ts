/** Topics of the instance. Everybody reads those they see, administrators change them. */
import { endpoint } from '../../core/access/endpoint.ts';
import { avatarAddress, serveAvatar } from '../../identity/avatars/serve_avatar.ts';
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

const described = {
  title: optional(text({ description: 'how pages name it; default: its name' })),
  description: optional(clearable(text({ maxLength: 1024 }))),
  avatar: avatarParam,
};

const list = endpoint({
  method: 'GET',
  path: '/topics',
  summary: 'Topics that the caller sees, those of most projects first',
  area,
  audience: 'optional',
  list: true,
  params: object({
    search: optional(text({ description: 'part of the name' })),
    without_projects: optional(boolean({ description: 'only topics that no project has' })),
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
  summary: 'One topic',
  area,
  audience: 'optional',
  params: object({ id }),
  reply: topicShape,
  handle: async (call, params) => topicJson(await findTopic(call, params.id), call),
});

const create = endpoint({
  method: 'POST',
  path: '/topics',
  summary: 'Create a topic',
  area,
  audience: 'admin',
  params: object({ name: text(), ...described }),
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
  summary: 'Change a topic',
  area,
  audience: 'admin',
  params: object({ id, name: optional(text()), ...described }),
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
  summary: 'Delete a topic; its projects lose it',
  area,
  audience: 'admin',
  params: object({ id }),
  reply: null,
  handle: async (call, params) => await deleteTopic(call, params.id),
});

const merge = endpoint({
  method: 'POST',
  path: '/topics/merge',
  summary: 'Give the projects of a topic another one, and delete the first',
  area,
  audience: 'admin',
  params: object({
    source_topic_id: idParam('topic to delete'),
    target_topic_id: idParam('topic that its projects get'),
  }),
  reply: topicShape,
  handle: async (call, { source_topic_id, target_topic_id }) => {
    await mergeTopics(call, source_topic_id, target_topic_id);
    return topicJson(await findTopic(call, target_topic_id), call);
  },
});

export const topicRoutes = [list, show, create, update, remove, merge];

/** Avatars outside the API. */
export const topicDoors = [
  endpoint({
    method: 'GET',
    path: '/uploads/-/system/projects/topic/avatar/:id/:filename',
    summary: 'The avatar of a topic, as `avatar_url` names it',
    area,
    audience: 'optional',
    params: avatarAddress,
    reply: null,
    content: '*/*',
    handle: async (call, { id: topicId, filename }) =>
      await serveAvatar(call, {
        avatar: (await findTopic(call, topicId)).avatar,
        filename,
        caching: 'private',
      }),
  }),
];
