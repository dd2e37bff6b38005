import { type RawBuilder, type Selectable, sql } from 'kysely';
import { today } from '../../core/access/viewer.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { TokensTable } from '../../platform/db/schema/credentials.ts';
import type { PageRequest } from '../../platform/http/page.ts';
import { containsText } from '../../platform/db/contains_text.ts';

/** All columns of a token except its hashes and OAuth columns. */
export const tokenColumns = [
  'id',
  'user_id',
  'kind',
  'name',
  'description',
  'scopes',
  'revoked',
  'expires_at',
  'last_used_at',
  'last_used_ip',
  'created_at',
] as const;

export type TokenRow = Pick<Selectable<TokensTable>, (typeof tokenColumns)[number]>;

/** Tokens that a user or administrator created explicitly. */
export type TokenKind = 'personal' | 'impersonation';

export type TokenFilter = {
  kind: TokenKind;
  /** null: of all users. */
  user_id: number | null;
  state?: 'all' | 'active' | 'inactive' | undefined;
  revoked?: boolean | undefined;
  /** Part of the name, in any case. */
  search?: string | undefined;
  /** Bounds are inclusive. Times are milliseconds, `expires_*` days. */
  created_after?: number | undefined;
  created_before?: number | undefined;
  last_used_after?: number | undefined;
  last_used_before?: number | undefined;
  expires_after?: string | undefined;
  expires_before?: string | undefined;
};

/** Over `tokens`: neither revoked nor expired. */
const isActive = (now: number): RawBuilder<boolean> =>
  sql<boolean>`(revoked = 0 and (expires_at is null or expires_at > ${today(now)}))`;

const within = (column: string, least: number | string | undefined, most: number | string | undefined) => [
  least === undefined ? null : sql<boolean>`${sql.ref(column)} >= ${least}`,
  most === undefined ? null : sql<boolean>`${sql.ref(column)} <= ${most}`,
];

/** Over `tokens`: tokens that match a filter. */
export const tokenCondition = (filter: TokenFilter, now: number): RawBuilder<boolean> => {
  const { kind, user_id, state, revoked, search = '' } = filter;
  const conditions: (RawBuilder<boolean> | null)[] = [
    sql`kind = ${kind}`,
    user_id === null ? null : sql`user_id = ${user_id}`,
    revoked === undefined ? null : sql`revoked = ${revoked ? 1 : 0}`,
    state === 'active' ? isActive(now) : null,
    state === 'inactive' ? sql`not ${isActive(now)}` : null,
    search === '' ? null : containsText('tokens.name', search),
    ...within('created_at', filter.created_after, filter.created_before),
    ...within('last_used_at', filter.last_used_after, filter.last_used_before),
    ...within('expires_at', filter.expires_after, filter.expires_before),
  ];
  return sql`${sql.join(
    conditions.filter((condition) => condition !== null),
    sql` and `,
  )}`;
};

export type TokenList = { filter: TokenFilter; page: PageRequest; now: number };

/** Lists a page of tokens, oldest first, with the total. */
export const listTokens = async (
  db: Reader,
  { filter, page, now }: TokenList,
): Promise<{ rows: TokenRow[]; total: number }> => {
  const where = tokenCondition(filter, now);
  const { total } = await db
    .selectFrom('tokens')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .where(where)
    .executeTakeFirstOrThrow();
  const rows = await db
    .selectFrom('tokens')
    .select(tokenColumns)
    .where(where)
    .orderBy('id')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { rows, total };
};

export const findToken = async (
  db: Reader,
  id: number,
  { kind, user_id }: Pick<TokenFilter, 'kind' | 'user_id'>,
): Promise<TokenRow | undefined> => {
  const query = db.selectFrom('tokens').select(tokenColumns).where('id', '=', id).where('kind', '=', kind);
  return await (user_id === null ? query : query.where('user_id', '=', user_id)).executeTakeFirst();
};

/** Loads the token of the call, of any kind. */
export const loadPresentedToken = async (db: Reader, id: number): Promise<TokenRow | undefined> =>
  await db.selectFrom('tokens').select(tokenColumns).where('id', '=', id).executeTakeFirst();
