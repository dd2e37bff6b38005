/**
 * Addresses of avatars. The column `avatar` of users, groups and projects is `<sha256>/<key>.<extension>`: the digest
 * of the content, and a random key, which is new for every upload. So an address never changes its content, and nobody
 * guesses one.
 */
import { hash } from 'node:crypto';
import type { Site } from '../../core/access/site.ts';
import type { Settings } from '../../core/settings/fields.ts';
import { makeLruCache } from '../../platform/lru_cache.ts';

export type AvatarKind = 'user' | 'group' | 'project' | 'projects/topic';

/** Returns the name of an avatar in its address. */
export const getAvatarName = (avatar: string): string => avatar.slice(avatar.indexOf('/') + 1);

/** Returns the address of an uploaded avatar; null if the owner has no avatar. */
export const uploadedAvatarUrl = (
  { baseUrl }: Pick<Site, 'baseUrl'>,
  kind: AvatarKind,
  { id, avatar }: { id: number; avatar: string | null },
): string | null =>
  avatar === null ? null : `${baseUrl}/uploads/-/system/${kind}/avatar/${id}/${getAvatarName(avatar)}`;

/** Returns the address of a picture at the avatar service; null if the service is off. @param size in pixels */
export const serviceAvatarUrl = (
  { avatar_service_enabled }: Settings,
  email: string,
  size = 80,
): string | null =>
  avatar_service_enabled
    ? `http://www.gravatar.com/avatar/${hash('md5', email.trim().toLowerCase())}?s=${size}&d=identicon`
    : null;

export type UserWithAvatar = { id: number; avatar: string | null; email: string };

/** Addresses at the avatar service of users, by e-mail address: lists name the same users many times. */
const serviceUrls = makeLruCache<string>(2_000, () => 1);

/** Like `serviceAvatarUrl`, for the stored address of a user. */
const cachedServiceUrl = (settings: Settings, email: string): string | null => {
  if (!settings.avatar_service_enabled) return null;
  const cached = serviceUrls.get(email);
  if (cached !== undefined) return cached;
  const url = serviceAvatarUrl(settings, email);
  if (url !== null) serviceUrls.set(email, url);
  return url;
};

/** Returns the URL of a user's avatar: the uploaded avatar, or an image of the avatar service. */
export const userAvatarUrl = (site: Site, user: UserWithAvatar): string | null =>
  uploadedAvatarUrl(site, 'user', user) ?? cachedServiceUrl(site.settings, user.email);
