/** Returns whether the text has control characters or backslashes, which browsers and proxies interpret differently. */
const hasUnsafeCharacter = (text: string): boolean => /[\\\p{Cc}]/u.test(text);

const decodeOrNull = (text: string): string | null => {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
};

/**
 * Returns a path of this service that a visitor may be redirected to; `/` for anything that could point elsewhere.
 * @param base our own URL
 */
export const safeRedirectPath = (target: string | undefined, base: string): string => {
  if (target === undefined || !target.startsWith('/') || hasUnsafeCharacter(target)) return '/';
  const own = URL.parse(base);
  const url = URL.parse(target, base);
  if (own === null || url === null || url.origin !== own.origin) return '/';
  const path = decodeOrNull(url.pathname);
  if (path === null || path.startsWith('//') || hasUnsafeCharacter(path)) return '/';
  return url.pathname + url.search + url.hash;
};

/** Adds the path to return to. @param back result of `safeRedirectPath` */
export const withReturnPath = (path: string, back: string): string =>
  back === '/' ? path : `${path}?return_to=${encodeURIComponent(back)}`;
