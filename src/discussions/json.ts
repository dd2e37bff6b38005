import type { Call } from '../access/call.ts';
import { array, bool, object, string } from '../http/schema.ts';
import type { Target } from '../issuables/target.ts';
import { noteShape, notesJson } from '../notes/json.ts';
import type { Discussion } from './queries.ts';

export const discussionShape = object({ id: string, individual_note: bool, notes: array(noteShape) });

/** Discussions of one target as the caller may read them, in two statements at most. */
export const discussionsJson = async (call: Call, target: Pick<Target, 'iid'>, discussions: Discussion[]) => {
  const notes = await notesJson(
    call,
    target,
    discussions.flatMap((discussion) => discussion.notes),
  );
  const byId = new Map(notes.map((note) => [note.id, note]));
  return discussions.map(({ id, notes: own }) => ({
    id,
    individual_note: own[0].discussion_id === null,
    notes: own.flatMap((note) => byId.get(note.id) ?? []),
  }));
};
