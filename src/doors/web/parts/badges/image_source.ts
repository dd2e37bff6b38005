import type { Visit } from '../../page.ts';

/** Returns where pages load an image from; null: they do not show it, as it is of another site. */
export const imageSource = ({ call }: Visit, url: string): string | null => {
  if (!URL.canParse(url)) return null;
  const { origin, pathname, search } = new URL(url);
  return origin === new URL(call.baseUrl).origin ? pathname + search : null;
};
