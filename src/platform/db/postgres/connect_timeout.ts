const usual = 5_000;

/**
 * Returns how long a request waits for a connection before it is answered 503, in milliseconds. The URL sets it as
 * `connect_timeout`, in seconds as in libpq; the default is five seconds.
 */
export const getConnectTimeout = (url: string | undefined): number => {
  const configured = url === undefined ? null : new URL(url).searchParams.get('connect_timeout');
  const seconds = Number(configured ?? Number.NaN);
  return seconds >= 1 ? seconds * 1_000 : usual;
};
