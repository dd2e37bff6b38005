import { getImageKey } from '../../../image_proxy/image_key.ts';
import { imagePath } from '../../../image_proxy/image_links.ts';
import type { Visit } from '../../page.ts';

/** Returns where pages load an image from; null: they do not show it, as the service does not load it. */
export const imageSource = ({ call }: Visit, url: string): string | null => {
  if (!URL.canParse(url)) return null;
  const { origin, pathname, search } = new URL(url);
  if (origin === new URL(call.baseUrl).origin) return origin + pathname + search;
  const key = getImageKey(call.platform);
  return key === null ? null : imagePath(key, url);
};
