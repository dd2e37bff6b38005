import type { Call } from '../../core/access/call.ts';
import { array, bool, object, string } from '../../platform/http/schema.ts';
import type { Target } from '../issuables/target.ts';
import { noteShape, notesJson } from '../notes/json.ts';
import type { Discussion } from './queries.ts';

export const discussionShape = object({ id: string, individual_note: bool, notes: array(noteShape) });

/** Renders discussions of one target for the caller, in at most two statements. */
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
