/** Serves uploaded avatars. */
import type { Call } from '../../core/access/call.ts';
import { readVerified } from '../../platform/blob/verified_read.ts';
import { notFound } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/endpoint.ts';
import { object, id as idParam, text } from '../../platform/http/schema.ts';
import { getAvatarName } from './avatar_urls.ts';
import { getPictureType } from './picture_types.ts';
import { getAvatarArea } from './store_avatar.ts';

type Serving = {
  /** Column of the owner. */
  avatar: string | null | undefined;
  /** Name in the requested address; undefined if the address is not of one upload, so its content may change. */
  filename?: string;
  /** Caches that may keep a copy: any cache, or only the caller's. */
  caching: 'public' | 'private';
};

const year = 31_536_000;

/** Headers that prevent a picture from acting as a page of this service. */
const makeHeaders = (avatar: string, { filename, caching }: Serving): Record<string, string> => ({
  'content-type': getPictureType(avatar),
  'content-disposition': 'inline',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cache-control': filename === undefined ? 'private, no-cache' : `${caching}, max-age=${year}, immutable`,
  etag: `"${getAvatarName(avatar)}"`,
});

/** Answers with the picture. The caller must have been authorized. @throws Failure 404 if the file is missing, 503 if it is damaged */
export const serveAvatar = async (call: Call, serving: Serving): Promise<Answer> => {
  const { avatar, filename } = serving;
  if (avatar === null || avatar === undefined) throw notFound('Avatar');
  if (filename !== undefined && filename !== getAvatarName(avatar)) throw notFound('Avatar');
  const headers = makeHeaders(avatar, serving);
  if (
    call
      .header('if-none-match')
      ?.split(',')
      .some((one) => one.trim() === headers['etag']) === true
  ) {
    return new Answer(null, { status: 304, headers: { etag: headers['etag'] ?? '' } });
  }
  const blob = { area: getAvatarArea(avatar), sha256: avatar.slice(0, avatar.indexOf('/')), size: null };
  const bytes = await readVerified(call.platform, blob);
  if (bytes === null) throw notFound('Avatar');
  return new Answer(bytes, { headers });
};

/** Parameters of the address of an avatar (`avatar_urls.ts`). */
export const avatarAddress = object({ id: idParam(), filename: text() });
