import { type RawBuilder, sql } from 'kysely';
import { type Invitation, isPending } from '../../../identity/invitations/links.ts';
import { normalizedEmail } from '../../../identity/users/rules.ts';
import { containsTyped } from '../../../identity/users/search_text.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { notFound } from '../../../platform/errors.ts';
import { type Page, type PageRequest, withTotal } from '../../../platform/http/page.ts';
import type { Source } from '../member_source.ts';

/** An invitation with the names of the user who sent it. */
export type ListedInvitation = Invitation & { created_by_name: string | null };

/** Over `invitations`: pending invitations of the source. */
export const inSource = ({ type, id }: Source, now: number): RawBuilder<boolean> =>
  sql<boolean>`(invitations.source_type = ${type} and invitations.source_id = ${id} and ${isPending(now)})`;

const select = (db: Reader, source: Source, now: number) =>
  db
    .selectFrom('invitations')
    .leftJoin('users', 'users.id', 'invitations.created_by_id')
    .selectAll('invitations')
    .select('users.name as created_by_name')
    .where(inSource(source, now));

type Filter = { query: string; now: number };

/** Lists the pending invitations of a source by address, with the total. */
export const listInvitations = async (
  db: Reader,
  source: Source,
  { query, now }: Filter,
  page: PageRequest,
): Promise<Page<ListedInvitation>> => {
  const typed = normalizedEmail(query);
  const matches = containsTyped('invitations.email', typed);
  const rows = await select(db, source, now)
    .$if(typed !== '', (all) => all.where(matches))
    .orderBy('invitations.email')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return await withTotal(
    page,
    rows,
    async () =>
      await db
        .selectFrom('invitations')
        .select((is) => is.fn.countAll<number>().as('total'))
        .where(inSource(source, now))
        .$if(typed !== '', (all) => all.where(matches))
        .executeTakeFirstOrThrow(),
  );
};

/** Finds the pending invitation of an address. @throws Failure 404 */
export const findInvitation = async (
  db: Reader,
  source: Source,
  email: string,
  now: number,
): Promise<ListedInvitation> => {
  const row = await select(db, source, now)
    .where('invitations.email', '=', normalizedEmail(email))
    .executeTakeFirst();
  if (row === undefined) throw notFound();
  return row;
};
