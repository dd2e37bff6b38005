import { endpoint } from '../../core/access/endpoint.ts';
import { avatarAddress, serveAvatar } from '../../identity/avatars/serve_avatar.ts';
import { idOrPath, object } from '../../platform/http/schema.ts';
import { findProject } from './find.ts';

const shown = { area: 'projects', audience: 'optional', reply: null, content: '*/*' } as const;

export const projectAvatar = endpoint({
  ...shown,
  method: 'GET',
  path: '/projects/:id/avatar',
  summary: 'Get the avatar of a project',
  params: object({ id: idOrPath('id or full path of the project') }),
  handle: async (call, { id }) =>
    await serveAvatar(call, { avatar: (await findProject(call, id)).avatar, caching: 'private' }),
});

/** Avatar routes outside `/api/v4`. */
export const projectAvatarRoutes = [
  endpoint({
    ...shown,
    method: 'GET',
    path: '/uploads/-/system/project/avatar/:id/:filename',
    summary: 'Get the avatar of a project by its `avatar_url`',
    params: avatarAddress,
    handle: async (call, { id, filename }) =>
      await serveAvatar(call, { avatar: (await findProject(call, id)).avatar, filename, caching: 'private' }),
  }),
];
