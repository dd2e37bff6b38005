import type { Selectable } from 'kysely';
import type { Reader } from '../../platform/db/open.ts';
import type { EmailsTable } from '../../platform/db/schema/identity.ts';
import { notFound } from '../../platform/errors.ts';
import { type Page, type PageRequest, withTotal } from '../../platform/http/page.ts';

export type EmailRow = Selectable<EmailsTable>;

/** Lists the further addresses of a user, oldest first. */
export const listEmails = async (db: Reader, userId: number, page: PageRequest): Promise<Page<EmailRow>> => {
  const query = db.selectFrom('emails').where('user_id', '=', userId);
  const rows = await query.selectAll().orderBy('id').limit(page.limit).offset(page.offset).execute();
  return await withTotal(
    page,
    rows,
    async () => await query.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  );
};

/** Loads a further address of this user. @throws Failure 404 */
export const findEmail = async (db: Reader, userId: number, id: number): Promise<EmailRow> => {
  const row = await db
    .selectFrom('emails')
    .selectAll()
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) throw notFound('Email');
  return row;
};
