import type { Platform } from '../../core/platform.ts';
import type { WorkHandler } from '../../platform/queue/enqueue.ts';
import { removeAvatarWork } from './store_avatar.ts';

export const avatarWork = ({ blobs }: Platform): { [name: string]: WorkHandler } => ({
  [removeAvatarWork]: async ({ area }) => await blobs.removeArea(String(area)),
});
