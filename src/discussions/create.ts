import type { Call } from '../access/call.ts';
import type { Found, Noun } from '../issuables/target.ts';
import { type NewNote, createNote } from '../notes/create.ts';
import type { Position } from '../notes/position.ts';
import type { NoteRow } from '../notes/json.ts';
import { type Discussion, findDiscussion } from './queries.ts';
import { requireReplyable } from './rules.ts';
import { individualId } from './id.ts';

type Text = Pick<NewNote, 'body' | 'created_at' | 'first'>;

const unresolved = { resolvable: 1, resolved_at: null, resolved_by_id: null } as const;

/**
 * Begins a thread, with its first comment.
 * @param position where in the diff it is, checked before; null: nowhere
 * @throws Failure as `createNote`
 */
export const createDiscussion = async (
  noun: Noun,
  call: Call,
  found: Found,
  { position, ...text }: Text & { position: Position | null },
): Promise<Discussion> => {
  const id = call.platform.random(20).toString('hex');
  const place = position === null ? null : JSON.stringify(position);
  const thread = {
    discussion_id: id,
    type: position === null ? ('DiscussionNote' as const) : ('DiffNote' as const),
    original_position: place,
    position: place,
    ...unresolved,
  };
  return { id, notes: [await createNote(noun, call, found, { ...text, thread: async () => thread })] };
};

/** What a reply shares with the discussion: where it stands, and that it is resolved if all of it is. */
const threadOf = ({ id, notes }: Discussion, resolved: Pick<NoteRow, 'resolved_at' | 'resolved_by_id'>) => {
  const [lead] = notes;
  return {
    discussion_id: id,
    type: lead.type ?? ('DiscussionNote' as const),
    original_position: lead.original_position,
    position: lead.position,
    resolvable: 1 as const,
    ...resolved,
  };
};

/**
 * Adds a comment to a discussion. A comment of its own becomes the beginning of a thread by it.
 * @throws Failure as `createNote`; 400 for what the service noted and for one that is full, 404 for a discussion that is gone
 */
export const replyTo = async (
  noun: Noun,
  call: Call,
  found: Found,
  { discussion_id, ...text }: Text & { discussion_id: string },
): Promise<NoteRow> => {
  const { target } = found;
  return await createNote(noun, call, found, {
    ...text,
    thread: async (tx, actor) => {
      const discussion = await findDiscussion({ db: tx.db, viewer: call.viewer }, target, discussion_id);
      const [lead] = discussion.notes;
      requireReplyable(discussion.notes);
      if (lead.discussion_id === null) {
        await tx.db
          .updateTable('notes')
          .set({ discussion_id: individualId(lead.id), type: 'DiscussionNote', resolvable: 1 })
          .where('id', '=', lead.id)
          .execute();
        return threadOf(discussion, { resolved_at: null, resolved_by_id: null });
      }
      const isResolved = discussion.notes.every((note) => note.resolved_at !== null);
      return threadOf(discussion, {
        resolved_at: isResolved ? tx.now : null,
        resolved_by_id: isResolved ? actor.user.id : null,
      });
    },
  });
};
