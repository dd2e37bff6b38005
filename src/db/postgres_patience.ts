const usual = 5_000;

/**
 * How long a request waits for a connection before it is answered 503, in milliseconds: what the URL says as
 * `connect_timeout`, in seconds as PostgreSQL's own programs read it; without it, five seconds.
 */
export const connectPatience = (url: string | undefined): number => {
  const said = url === undefined ? null : new URL(url).searchParams.get('connect_timeout');
  const seconds = Number(said ?? Number.NaN);
  return seconds >= 1 ? seconds * 1_000 : usual;
};
