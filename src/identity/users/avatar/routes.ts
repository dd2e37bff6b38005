import { requireActor } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { forbidden } from '../../../platform/errors.ts';
import {
  fileParam,
  integer,
  nullable,
  object,
  optional,
  string,
  text,
} from '../../../platform/http/schema.ts';
import { serviceAvatarUrl, userAvatarUrl } from '../../avatars/avatar_urls.ts';
import { avatarAddress, serveAvatar } from '../../avatars/serve_avatar.ts';
import { withAvatar } from '../../avatars/store_avatar.ts';
import { loadUser } from '../queries.ts';
import { normalizedEmail } from '../rules.ts';
import { updateUser } from '../update.ts';

const area = 'users';
const reply = object({ avatar_url: nullable(string) });

const changeOwn = endpoint({
  method: 'PUT',
  path: '/user/avatar',
  summary: 'Update your avatar',
  area,
  audience: 'user',
  params: object({ avatar: fileParam('an image of at most 200 KiB; send it empty to remove the avatar') }),
  reply,
  handle: async (call, { avatar: file }) => {
    const actor = requireActor(call);
    const { id } = actor.user;
    await withAvatar(
      call.platform,
      file,
      async (columns) => await updateUser(call.platform, actor, id, columns),
    );
    return { avatar_url: userAvatarUrl(call, await loadUser(call.db, id)) };
  },
});

const byEmail = endpoint({
  method: 'GET',
  path: '/avatar',
  summary: 'Get the avatar URL of a public email address',
  area,
  audience: 'optional',
  refusals: [403],
  params: object({
    email: text(),
    size: optional(integer({ minimum: 1, maximum: 2_048, description: 'size in pixels' })),
  }),
  reply,
  handle: async (call, { email, size }) => {
    const { settings, signedIn } = call;
    if (!signedIn && settings.restricted_visibility_levels.includes('public')) throw forbidden();
    const user = await call.db
      .selectFrom('users')
      .select(['id', 'avatar', 'email'])
      .where((is) => is.fn<string>('lower', ['email']), '=', normalizedEmail(email))
      .whereRef('public_email', '=', 'email')
      .executeTakeFirst();
    const fallbackUrl = serviceAvatarUrl(settings, email, size);
    if (user === undefined || user.avatar === null) return { avatar_url: fallbackUrl };
    return { avatar_url: userAvatarUrl(call, user) };
  },
});

/**
 * Needs no sign-in: public issues show avatars to everybody, and the key in the URL cannot be guessed.
 */
const picture = endpoint({
  method: 'GET',
  path: '/uploads/-/system/user/avatar/:id/:filename',
  summary: 'Get the avatar of a user by its `avatar_url`',
  area,
  audience: 'optional',
  params: avatarAddress,
  reply: null,
  content: '*/*',
  handle: async (call, { id, filename }) => {
    const user = await call.db.selectFrom('users').select('avatar').where('id', '=', id).executeTakeFirst();
    return await serveAvatar(call, { avatar: user?.avatar, filename, caching: 'public' });
  },
});

export const avatarRoutes = [changeOwn, byEmail];

/** Avatar routes outside `/api/v4`. */
export const userAvatarFileRoutes = [picture];
