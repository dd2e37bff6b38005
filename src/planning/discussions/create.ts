import type { Call } from '../../core/access/call.ts';
import { type Flag, toFlag } from '../../platform/db/schema/column_types.ts';
import { invalid } from '../../platform/errors.ts';
import { type LoadedNoteable, type NounActions, isIssuable } from '../issuables/target.ts';
import { type NewNote, createNote } from '../notes/create.ts';
import type { Position } from '../notes/position.ts';
import type { NoteRow } from '../notes/note_row.ts';
import { type Discussion, findDiscussion } from './queries.ts';
import { findPresentPosition } from './move_positions.ts';
import { requireReplyable, requireSameAudience } from './resolve_and_reply_rules.ts';
import { toIndividualId } from './discussion_id.ts';

type Text = Pick<NewNote, 'body' | 'created_at' | 'first' | 'internal'>;

const unresolved = { resolved_at: null, resolved_by_id: null } as const;

/** Threads on snippets are not resolved. */
const toResolvable = ({ target }: LoadedNoteable): Flag => toFlag(isIssuable(target));

/**
 * Creates a thread with its first comment.
 * @param position checked position in the diff; null: none
 * @throws Failure as `createNote`; 400 for an internal comment on a diff
 */
export const createDiscussion = async <L extends LoadedNoteable>(
  noun: NounActions<L>,
  call: Call,
  loaded: L,
  { position, ...text }: Text & { position: Position | null },
): Promise<Discussion> => {
  if (position !== null && text.internal === true)
    throw invalid({ confidential: ['can not be set for this type of note'] });
  const id = call.platform.random(20).toString('hex');
  const place = position === null ? null : JSON.stringify(position);
  const present =
    position === null ? null : JSON.stringify(await findPresentPosition(call.platform, loaded, position));
  const thread = {
    discussion_id: id,
    type: position === null ? ('DiscussionNote' as const) : ('DiffNote' as const),
    original_position: place,
    position: present,
    resolvable: toResolvable(loaded),
    ...unresolved,
  };
  return { id, notes: [await createNote(noun, call, loaded, { ...text, thread: async () => thread })] };
};

/** Columns that a reply takes from its discussion: position, and whether it is resolved. */
const toThreadColumns = (
  { id, notes }: Discussion,
  resolved: Pick<NoteRow, 'resolved_at' | 'resolved_by_id'>,
) => {
  const [lead] = notes;
  return {
    discussion_id: id,
    type: lead.type ?? ('DiscussionNote' as const),
    original_position: lead.original_position,
    position: lead.position,
    resolvable: lead.resolvable,
    ...resolved,
  };
};

/**
 * Adds a reply to a discussion; it is internal if the discussion is. A standalone comment becomes the first comment of
 * a thread.
 * @throws Failure as `createNote`; 400 if the discussion is a system note or full, 404 if it was deleted
 */
export const addReply = async <L extends LoadedNoteable>(
  noun: NounActions<L>,
  call: Call,
  loaded: L,
  { discussion_id, ...text }: Text & { discussion_id: string },
): Promise<NoteRow> => {
  const { target } = loaded;
  const { notes } = await findDiscussion(call, target, discussion_id);
  requireSameAudience(notes, text.internal ?? false);
  return await createNote(noun, call, loaded, {
    ...text,
    internal: notes[0].internal === 1,
    thread: async (tx, actor) => {
      const discussion = await findDiscussion({ db: tx.db, viewer: call.viewer }, target, discussion_id);
      const [lead] = discussion.notes;
      const resolvable = toResolvable(loaded);
      requireReplyable(discussion.notes);
      if (lead.discussion_id === null) {
        await tx.db
          .updateTable('notes')
          .set({ discussion_id: toIndividualId(lead.id), type: 'DiscussionNote', resolvable })
          .where('id', '=', lead.id)
          .execute();
        return { ...toThreadColumns(discussion, unresolved), resolvable };
      }
      const isResolved = discussion.notes.every((note) => note.resolved_at !== null);
      return toThreadColumns(discussion, {
        resolved_at: isResolved ? tx.now : null,
        resolved_by_id: isResolved ? actor.user.id : null,
      });
    },
  });
};
