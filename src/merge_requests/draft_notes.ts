/** Comments that their author has not shown anybody yet: a review is written first and published at once. */
import type { Selectable } from 'kysely';
import { type Call, userOf } from '../access/call.ts';
import { insertRow } from '../db/insert.ts';
import type { Reader } from '../db/open.ts';
import type { DraftNotesTable } from '../db/schema_code.ts';
import { badRequest, invalid, notFound } from '../errors.ts';
import { placeInDiff } from '../discussions/place.ts';
import type { GivenPosition } from '../discussions/position.ts';
import { findDiscussion } from '../discussions/queries.ts';
import { requireReplyable } from '../discussions/rules.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { checkBody, requireCommenter } from '../notes/rules.ts';
import type { FoundMergeRequest } from './find.ts';

export type DraftNote = Selectable<DraftNotesTable>;

export type NewDraft = {
  note: string;
  position: GivenPosition | null;
  in_reply_to_discussion_id: string | undefined;
  resolve_discussion: boolean;
};

/** Of one author on one merge request. */
const mostDrafts = 500;

/** Another's drafts are not there for the caller. */
const own = (call: Pick<Call, 'db'>, authorId: number, { merge_request }: FoundMergeRequest) =>
  call.db
    .selectFrom('draft_notes')
    .where('author_id', '=', authorId)
    .where('merge_request_id', '=', merge_request.id);

const countDrafts = async (db: Reader, authorId: number, found: FoundMergeRequest): Promise<number> => {
  const { total } = await own({ db }, authorId, found)
    .select((of) => of.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return total;
};

/** The caller's, the oldest first. */
export const listDrafts = async (
  call: Call,
  found: FoundMergeRequest,
  { limit, offset }: PageRequest,
): Promise<Page<DraftNote>> => {
  const author = userOf(call).id;
  const items = await own(call, author, found)
    .selectAll()
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute();
  return { items, total: await countDrafts(call.db, author, found) };
};

/** All of the caller's: there are not many. */
export const allDrafts = async (call: Call, found: FoundMergeRequest): Promise<DraftNote[]> =>
  await own(call, userOf(call).id, found).selectAll().orderBy('id').limit(mostDrafts).execute();

/** @throws Failure 404 */
export const findDraft = async (call: Call, found: FoundMergeRequest, id: number): Promise<DraftNote> => {
  const draft = await own(call, userOf(call).id, found).selectAll().where('id', '=', id).executeTakeFirst();
  if (draft === undefined) throw notFound();
  return draft;
};

const placeOf = async (
  call: Call,
  found: FoundMergeRequest,
  position: GivenPosition | null,
): Promise<string | null> =>
  position === null ? null : JSON.stringify(await placeInDiff(call, found, position));

/** @throws Failure 403, 400, 404 as when the comment is made */
export const createDraft = async (
  call: Call,
  found: FoundMergeRequest,
  { note, position, in_reply_to_discussion_id: answered, resolve_discussion }: NewDraft,
): Promise<DraftNote> => {
  requireCommenter(call, found);
  checkBody(note);
  if (answered !== undefined && position !== null) {
    throw badRequest('at most one of in_reply_to_discussion_id, position may be given');
  }
  if (answered !== undefined) {
    requireReplyable((await findDiscussion(call, found.target, answered)).notes);
  }
  const place = await placeOf(call, found, position);
  const { id: author_id } = userOf(call);
  return await call.write(async (tx) => {
    if ((await countDrafts(tx.db, author_id, found)) >= mostDrafts) {
      throw invalid({ base: [`is too long (maximum is ${mostDrafts} drafts)`] });
    }
    const row = {
      merge_request_id: found.merge_request.id,
      author_id,
      note,
      discussion_id: answered ?? null,
      resolve_discussion: resolve_discussion && answered !== undefined ? (1 as const) : (0 as const),
      position: place,
      created_at: tx.now,
      updated_at: tx.now,
    };
    return { id: await insertRow(tx.db, 'draft_notes', row), ...row };
  });
};

/** @throws Failure 404 where it is published or deleted meanwhile */
export const updateDraft = async (
  call: Call,
  found: FoundMergeRequest,
  draft: DraftNote,
  { note, position }: { note: string | undefined; position: GivenPosition | null },
): Promise<DraftNote> => {
  if (note !== undefined) checkBody(note);
  if (position !== null && draft.discussion_id !== null)
    throw invalid({ position: ['is of the discussion'] });
  const place = await placeOf(call, found, position);
  return await call.write(async (tx) => {
    const changed = await tx.db
      .updateTable('draft_notes')
      .set({
        updated_at: tx.now,
        ...(note !== undefined && { note }),
        ...(place !== null && { position: place }),
      })
      .where('id', '=', draft.id)
      .returningAll()
      .executeTakeFirst();
    if (changed === undefined) throw notFound();
    return changed;
  });
};

/** @throws Failure 404 where it is published or deleted meanwhile */
export const takeDraft = async ({ db }: { db: Reader }, { id }: DraftNote): Promise<void> => {
  const { numDeletedRows } = await db.deleteFrom('draft_notes').where('id', '=', id).executeTakeFirst();
  if (numDeletedRows === 0n) throw notFound();
};
