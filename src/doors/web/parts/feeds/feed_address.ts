/** Makes the addresses of feeds that readers open without a session. */
import type { Call } from '../../../../core/access/call.ts';
import { makeFeedToken } from '../../../../core/access/credentials/feed_token.ts';

/** Parameters of an address, in order; undefined: absent. */
type Query = Readonly<Record<string, string | undefined>>;

/**
 * Returns the address of a feed, with the user's token for its path.
 * @param path without a query
 * @param query filters of the list that the feed follows
 */
export const feedAddress = ({ actor, platform }: Call, path: string, query: Query = {}): string => {
  const sent = new URLSearchParams();
  // An administrator who acts as the user would keep the token.
  if (actor !== null && actor.sudo_by_id === null)
    sent.set('feed_token', makeFeedToken(platform.secrets.session_key, actor.user, path));
  for (const [name, value] of Object.entries(query)) if (value !== undefined) sent.set(name, value);
  return sent.size === 0 ? path : `${path}?${sent.toString()}`;
};
