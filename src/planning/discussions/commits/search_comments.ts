/** Searches the comments on the commits of a project. */
import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import type { CommitComment } from '../../../code/repository/commits/comments.ts';
import { containsText } from '../../../platform/db/contains_text.ts';
import type { Page } from '../../../platform/http/page.ts';

/** Lists the comments that contain a text, by age. The caller must be able to read the code. */
export const searchComments = async (
  { db }: Pick<Call, 'db'>,
  { id }: { id: number },
  { search, sort }: { search: string; sort: 'asc' | 'desc' },
  { limit, offset }: { limit: number; offset: number },
): Promise<Page<CommitComment>> => {
  const query = db
    .selectFrom('commit_comments')
    .where('project_id', '=', id)
    .where(containsText('commit_comments.note', search));
  const [items, { total }] = await Promise.all([
    query.selectAll().orderBy('id', sort).limit(limit).offset(offset).execute(),
    query.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow(),
  ]);
  return { items, total };
};
