/** Matches control characters and backslashes, which browsers and proxies interpret differently. */
const isOdd = (text: string): boolean => /[\\\p{Cc}]/u.test(text);

const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
};

/**
 * Returns a path of ours to which a visitor may be redirected; `/` for anything that could lead elsewhere.
 * @param base our own URL
 */
export const ownPath = (given: string | undefined, base: string): string => {
  if (given === undefined || !given.startsWith('/') || isOdd(given)) return '/';
  const own = URL.parse(base);
  const url = URL.parse(given, base);
  if (own === null || url === null || url.origin !== own.origin) return '/';
  const path = decoded(url.pathname);
  if (path === null || path.startsWith('//') || isOdd(path)) return '/';
  return url.pathname + url.search + url.hash;
};
