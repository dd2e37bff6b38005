/** Stores uploaded avatars. Each has a separate blob area, named by its random key. */
import { Readable } from 'node:stream';
import type { Platform } from '../../core/platform.ts';
import type { Tx } from '../../platform/db/open.ts';
import { invalid, isDiskFailure, unavailable } from '../../platform/errors.ts';
import type { ReceivedFile } from '../../platform/http/body/received_file.ts';
import { fileParam, optional } from '../../platform/http/schema.ts';
import { enqueue } from '../../platform/queue/enqueue.ts';
import { getAvatarName } from './avatar_urls.ts';
import { type PictureExtension, readPictureExtension } from './picture_types.ts';

const maxKilobytes = 200;

export const avatarParam = optional(
  fileParam(
    `a picture (PNG, JPEG, GIF, WebP or ICO) of at most ${maxKilobytes} KiB; send it empty to remove the avatar`,
  ),
);

/** Returns the blob area of an avatar. */
export const getAvatarArea = (avatar: string): string =>
  `avatars/${getAvatarName(avatar).split('.')[0] ?? ''}`;

/** Checks a picture. @throws Failure 400 */
const readExtension = ({ content }: ReceivedFile): PictureExtension => {
  if (content.length > maxKilobytes * 1024) {
    throw invalid({ avatar: [`is too big (should be at most ${maxKilobytes} KiB)`] });
  }
  const extension = readPictureExtension(content);
  if (extension === null) {
    throw invalid({ avatar: ['file format is not supported. Use PNG, JPEG, GIF, WebP or ICO'] });
  }
  return extension;
};

type Parts = Pick<Platform, 'blobs' | 'random'>;

const storeAvatar = async ({ blobs, random }: Parts, file: ReceivedFile): Promise<string> => {
  const name = `${random(16).toString('hex')}.${readExtension(file)}`;
  try {
    const { sha256 } = await blobs.put(getAvatarArea(name), Readable.from([file.content]));
    return `${sha256}/${name}`;
  } catch (error) {
    throw isDiskFailure(error) ? unavailable() : error;
  }
};

/**
 * Stores the avatar of a request and runs the operation that records it in the column of its owner; if that fails, the
 * avatar is removed again.
 * @param file null if the avatar is removed; undefined: unchanged
 * @throws Failure 400 for a file that is not a picture or is too large
 */
export const withAvatar = async <T>(
  parts: Parts,
  file: ReceivedFile | null | undefined,
  run: (columns: { avatar?: string | null }) => Promise<T>,
): Promise<T> => {
  if (file === undefined) return await run({});
  if (file === null) return await run({ avatar: null });
  const avatar = await storeAvatar(parts, file);
  try {
    return await run({ avatar });
  } catch (error) {
    await parts.blobs.removeArea(getAvatarArea(avatar)).catch(() => undefined);
    throw error;
  }
};

export const removeAvatarWork = 'remove_avatar';

/** Removes the bytes of an avatar that no column names any more, once the transaction is committed. */
export const enqueueAvatarRemoval = async (tx: Tx, avatar: string | null): Promise<void> => {
  if (avatar !== null) await enqueue(tx, removeAvatarWork, { area: getAvatarArea(avatar) });
};

/** Returns the entry of the change log without the keys of avatars. */
export const hideAvatar = (data: Record<string, unknown>): Record<string, unknown> =>
  'avatar' in data ? { ...data, avatar: [] } : data;
