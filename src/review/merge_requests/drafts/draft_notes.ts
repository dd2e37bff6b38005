/** Stores draft comments: only their author sees them until the whole review is published. */
import type { Selectable } from 'kysely';
import { type Call, requireUser } from '../../../core/access/call.ts';
import { insertRow } from '../../../platform/db/insert.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { toFlag } from '../../../platform/db/schema/column_types.ts';
import type { DraftNotesTable } from '../../../platform/db/schema/review.ts';
import { badRequest, invalid, notFound } from '../../../platform/errors.ts';
import { locateInDiff } from '../../../planning/discussions/find_line.ts';
import type { PositionInput } from '../../../planning/discussions/position_param.ts';
import { findDiscussion } from '../../../planning/discussions/queries.ts';
import { requireReplyable } from '../../../planning/discussions/resolve_and_reply_rules.ts';
import type { Page, PageRequest } from '../../../platform/http/page.ts';
import { checkBody, requireCommenter } from '../../../planning/notes/rules.ts';
import type { LoadedMergeRequest } from '../find.ts';

export type DraftNote = Selectable<DraftNotesTable>;

export type NewDraft = {
  note: string;
  position: PositionInput | null;
  in_reply_to_discussion_id: string | undefined;
  resolve_discussion: boolean;
};

/** Maximum number of drafts per author and merge request. */
const maxDrafts = 500;

/** Selects the drafts of one author. Drafts of other users are invisible. */
const selectOwnDrafts = (call: Pick<Call, 'db'>, authorId: number, { merge_request }: LoadedMergeRequest) =>
  call.db
    .selectFrom('draft_notes')
    .where('author_id', '=', authorId)
    .where('merge_request_id', '=', merge_request.id);

const countDrafts = async (db: Reader, authorId: number, loaded: LoadedMergeRequest): Promise<number> => {
  const { total } = await selectOwnDrafts({ db }, authorId, loaded)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return total;
};

/** Counts the drafts of the caller; 0 if nobody is signed in. */
export const countOwnDrafts = async (call: Call, loaded: LoadedMergeRequest): Promise<number> => {
  const author = call.actor?.user.id;
  return author === undefined ? 0 : await countDrafts(call.db, author, loaded);
};

/** Lists a page of the drafts of the caller, oldest first. */
export const listDrafts = async (
  call: Call,
  loaded: LoadedMergeRequest,
  { limit, offset }: PageRequest,
): Promise<Page<DraftNote>> => {
  const author = requireUser(call).id;
  const items = await selectOwnDrafts(call, author, loaded)
    .selectAll()
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute();
  return { items, total: await countDrafts(call.db, author, loaded) };
};

/** Loads all drafts of the caller, oldest first. */
export const allDrafts = async (call: Call, loaded: LoadedMergeRequest): Promise<DraftNote[]> =>
  await selectOwnDrafts(call, requireUser(call).id, loaded)
    .selectAll()
    .orderBy('id')
    .limit(maxDrafts)
    .execute();

/** Loads one draft of the caller. @throws Failure 404 */
export const findDraft = async (call: Call, loaded: LoadedMergeRequest, id: number): Promise<DraftNote> => {
  const draft = await selectOwnDrafts(call, requireUser(call).id, loaded)
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  if (draft === undefined) throw notFound();
  return draft;
};

const resolvePosition = async (
  call: Call,
  loaded: LoadedMergeRequest,
  position: PositionInput | null,
): Promise<string | null> =>
  position === null ? null : JSON.stringify(await locateInDiff(call, loaded, position));

/** Stores a draft. @throws Failure 400, 403, 404, as for a new comment */
export const createDraft = async (
  call: Call,
  loaded: LoadedMergeRequest,
  { note, position, in_reply_to_discussion_id: answered, resolve_discussion }: NewDraft,
): Promise<DraftNote> => {
  requireCommenter(call, loaded);
  checkBody(note);
  if (answered !== undefined && position !== null) {
    throw badRequest('at most one of in_reply_to_discussion_id, position may be given');
  }
  if (answered !== undefined) {
    requireReplyable((await findDiscussion(call, loaded.target, answered)).notes);
  }
  const place = await resolvePosition(call, loaded, position);
  const { id: author_id } = requireUser(call);
  return await call.write(async (tx) => {
    if ((await countDrafts(tx.db, author_id, loaded)) >= maxDrafts) {
      throw invalid({ base: [`is too long (maximum is ${maxDrafts} drafts)`] });
    }
    const row = {
      merge_request_id: loaded.merge_request.id,
      author_id,
      note,
      discussion_id: answered ?? null,
      resolve_discussion: toFlag(resolve_discussion && answered !== undefined),
      position: place,
      created_at: tx.now,
      updated_at: tx.now,
    };
    return { id: await insertRow(tx.db, 'draft_notes', row), ...row };
  });
};

/** Edits a draft. @throws Failure 404 if it was published or deleted meanwhile */
export const updateDraft = async (
  call: Call,
  loaded: LoadedMergeRequest,
  draft: DraftNote,
  { note, position }: { note: string | undefined; position: PositionInput | null },
): Promise<DraftNote> => {
  if (note !== undefined) checkBody(note);
  if (position !== null && draft.discussion_id !== null)
    throw invalid({ position: ['is of the discussion'] });
  const place = await resolvePosition(call, loaded, position);
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

/** Deletes a draft. @throws Failure 404 if it was published or deleted meanwhile */
export const deleteDraft = async ({ db }: { db: Reader }, { id }: DraftNote): Promise<void> => {
  const { numDeletedRows } = await db.deleteFrom('draft_notes').where('id', '=', id).executeTakeFirst();
  if (numDeletedRows === 0n) throw notFound();
};
