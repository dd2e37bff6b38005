/**
 * Tokens in the addresses of feeds, so that readers of feeds and calendars need no session. A token is bound to the
 * path of one feed, and to a number of the user: a higher number invalidates all of their tokens.
 */
import { sql } from 'kysely';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { rolesText, today, toViewer } from '../viewer.ts';
import { type SignedIn, namesVersion, userColumns } from './authenticate.ts';
import { isSignedLink, readLinkText, signLink } from './signed_links.ts';

type Holder = { id: number; feed_generation: number };

const boundTo = ({ feed_generation }: Holder, path: string): string => `${feed_generation} ${path}`;

/** Makes a user's token for a feed. @param path of the feed, without its query */
export const makeFeedToken = (key: string, user: Holder, path: string): string =>
  signLink(key, 'feed', String(user.id), boundTo(user, path));

/** Returns the token in an address; null if it has none. */
export const readFeedToken = ({ query }: { query: unknown }): string | null => {
  const { feed_token } = query as { feed_token?: unknown };
  return typeof feed_token === 'string' ? feed_token : null;
};

const selectReader = compiled((db, { id, day }: { id: number; day: string }) =>
  db
    .selectFrom('users')
    .select(userColumns)
    .select(rolesText(sql`users.id`, day).as('roles'))
    .select(namesVersion.as('names_version'))
    .where('users.id', '=', id)
    .compile(),
);

/** Authenticates the reader of a feed; null for a wrong token, or one of a blocked user. */
export const authenticateFeedReader = async (
  db: Reader,
  key: string,
  { token, path, now }: { token: string; path: string; now: number },
): Promise<SignedIn | null> => {
  const id = readLinkText(token);
  if (!/^\d{1,15}$/.test(id)) return null;
  const [row] = await selectReader(db, { id: Number(id), day: today(now) });
  if (row === undefined || row.state === 'blocked') return null;
  if (!isSignedLink(key, 'feed', token, boundTo(row, path))) return null;
  const { roles, names_version, ...user } = row;
  const credential = { kind: 'feed' as const, id: user.id, scopes: [], last_used_at: null };
  return { user, credential, viewer: toViewer(user, roles), names_version };
};
