/** Cookies: one is read by its name, one is written with everything that keeps it safe. */

/** The value of a cookie, as it stands in the `Cookie` header; null: not sent. Of two by one name, the first. */
export const cookieOf = (header: string | undefined, name: string): string | null => {
  for (const pair of header?.split(';') ?? []) {
    const mark = pair.indexOf('=');
    if (mark !== -1 && pair.slice(0, mark).trim() === name) return pair.slice(mark + 1).trim();
  }
  return null;
};

type Written = {
  name: string;
  /** Only characters that a cookie may have: base64url and dots. Empty: the cookie goes. */
  value: string;
  /** Seconds; null: until the browser ends. */
  maxAge: number | null;
  secure: boolean;
};

/** A `Set-Cookie` that scripts cannot read, and that other sites cannot send but by a link. */
export const setCookie = ({ name, value, maxAge, secure }: Written): string =>
  [
    `${name}=${value}`,
    'Path=/',
    ...(value === '' ? ['Max-Age=0'] : maxAge === null ? [] : [`Max-Age=${maxAge}`]),
    'HttpOnly',
    'SameSite=Lax',
    ...(secure ? ['Secure'] : []),
  ].join('; ');
