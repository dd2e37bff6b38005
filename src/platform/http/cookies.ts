/** Reads cookies by name, and writes them with secure attributes. */

/** Reads a cookie from the `Cookie` header; null if absent. If it occurs twice, the first counts. */
export const readCookie = (header: string | undefined, name: string): string | null => {
  for (const pair of header?.split(';') ?? []) {
    const mark = pair.indexOf('=');
    if (mark !== -1 && pair.slice(0, mark).trim() === name) return pair.slice(mark + 1).trim();
  }
  return null;
};

type Written = {
  name: string;
  /** May contain only base64url characters and dots. Empty: deletes the cookie. */
  value: string;
  /** Seconds; null: until the browser closes. */
  maxAge: number | null;
  secure: boolean;
};

/**
 * Formats a `Set-Cookie` header for a cookie that scripts cannot read, and that other sites send only with links
 * (`SameSite=Lax`).
 */
export const setCookie = ({ name, value, maxAge, secure }: Written): string =>
  [
    `${name}=${value}`,
    'Path=/',
    ...(value === '' ? ['Max-Age=0'] : maxAge === null ? [] : [`Max-Age=${maxAge}`]),
    'HttpOnly',
    'SameSite=Lax',
    ...(secure ? ['Secure'] : []),
  ].join('; ');
