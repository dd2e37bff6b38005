import { endpoint } from '../../core/access/endpoint.ts';
import { avatarAddress, serveAvatar } from '../../identity/avatars/serve_avatar.ts';
import { findTopic } from './queries.ts';

/** Avatar routes outside `/api/v4`. */
export const topicAvatarRoutes = [
  endpoint({
    method: 'GET',
    path: '/uploads/-/system/projects/topic/avatar/:id/:filename',
    summary: 'Get the avatar of a topic by its `avatar_url`',
    area: 'topics',
    audience: 'optional',
    params: avatarAddress,
    reply: null,
    content: '*/*',
    handle: async (call, { id, filename }) =>
      await serveAvatar(call, {
        avatar: (await findTopic(call, id)).avatar,
        filename,
        caching: 'private',
      }),
  }),
];
