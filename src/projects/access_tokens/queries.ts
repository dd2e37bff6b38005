/** Access tokens of a project or group, with the roles of their bots. */
import { type RawBuilder, sql } from 'kysely';
import type { Reader } from '../../platform/db/open.ts';
import { notFound } from '../../platform/errors.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import {
  type TokenFilter,
  type TokenRow,
  tokenColumns,
  tokenCondition,
} from '../../identity/tokens/queries.ts';
import type { Source } from '../members/member_source.ts';

export type AccessToken = TokenRow & { access_level: number | null };

export type AccessTokenFilter = Omit<TokenFilter, 'kind' | 'user_id'>;

const ofBots = ({ type, id }: Pick<Source, 'type' | 'id'>): RawBuilder<boolean> =>
  sql<boolean>`tokens.user_id in (select user_id from bots where source_type = ${type} and source_id = ${id})`;

const role = ({ type, id }: Pick<Source, 'type' | 'id'>) => sql<
  number | null
>`(select access_level from members
  where members.user_id = tokens.user_id and members.source_type = ${type} and members.source_id = ${id})`;

const select = (db: Reader, source: Pick<Source, 'type' | 'id'>) =>
  db
    .selectFrom('tokens')
    .select(tokenColumns)
    .select(role(source).as('access_level'))
    .where(ofBots(source))
    .where('kind', '=', 'personal');

/** Lists the tokens of a source, the oldest first. */
export const listAccessTokens = async (
  db: Reader,
  source: Source,
  filter: AccessTokenFilter,
  { limit, offset, now }: Pick<PageRequest, 'limit' | 'offset'> & { now: number },
): Promise<Page<AccessToken>> => {
  const where = tokenCondition({ ...filter, kind: 'personal', user_id: null }, now);
  const [items, { total }] = await Promise.all([
    select(db, source).where(where).orderBy('id').limit(limit).offset(offset).execute(),
    db
      .selectFrom('tokens')
      .where(ofBots(source))
      .where(where)
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow(),
  ]);
  return { items, total };
};

/** Query for the tokens of a source that have neither ended nor been revoked. */
export const selectActive = (db: Reader, source: Pick<Source, 'type' | 'id'>, now: number) =>
  db
    .selectFrom('tokens')
    .where(ofBots(source))
    .where(tokenCondition({ kind: 'personal', user_id: null, state: 'active' }, now));

/** @throws Failure 404 for a token of another source */
export const findAccessToken = async (
  db: Reader,
  source: Pick<Source, 'type' | 'id'>,
  tokenId: number,
): Promise<AccessToken> => {
  const row = await select(db, source).where('tokens.id', '=', tokenId).executeTakeFirst();
  if (row === undefined) throw notFound();
  return row;
};
