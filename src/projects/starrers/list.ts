import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { allOf } from '../../core/access/visible.ts';
import { basicUser, basicUserColumns, basicUserShape } from '../../identity/users/json.ts';
import { containsTyped } from '../../identity/users/search_text.ts';
import { type Page, pageRequest } from '../../platform/http/page.ts';
import { object, timestamp } from '../../platform/http/schema.ts';
import { formatTime } from '../../platform/time.ts';

export const starrerShape = object({ starred_since: timestamp, user: basicUserShape });

type Params = { search?: string; page: number; per_page: number };

const matches = (projectId: number, search: string): RawBuilder<boolean> =>
  allOf([
    sql<boolean>`project_stars.project_id = ${projectId}`,
    ...(search.trim() === '' ? [] : [containsTyped('users.search_text', search)]),
  ]);

/** Lists the users who starred a project, the latest first. */
export const listStarrers = async (
  call: Call,
  projectId: number,
  { search = '', ...params }: Params,
): Promise<Page<unknown>> => {
  const where = matches(projectId, search);
  const stars = call.db
    .selectFrom('project_stars')
    .innerJoin('users', 'users.id', 'project_stars.user_id')
    .where(where);
  const { limit, offset } = pageRequest(params);
  const rows = await stars
    .select(basicUserColumns)
    .select('project_stars.created_at as starred_at')
    .orderBy('project_stars.created_at', 'desc')
    .orderBy('project_stars.user_id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  const { total } = await stars
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const items = rows.map(({ starred_at, ...user }) => ({
    starred_since: formatTime(starred_at),
    user: basicUser(user, call),
  }));
  return { items, total };
};
