import type { Platform } from '../../core/platform.ts';
import { deriveImageKey } from './image_links.ts';

/** Returns the key that signs addresses of images of other sites; null: the service shows none. */
export const getImageKey = ({ config, secrets }: Pick<Platform, 'config' | 'secrets'>): string | null =>
  config.image_proxy ? deriveImageKey(secrets.session_key) : null;
