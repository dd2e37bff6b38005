import type { Call } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import { badRequest, forbidden, invalid } from '../../platform/errors.ts';
import { isLockedFor } from '../issuables/locked_discussion.ts';
import type { LoadedNoteable } from '../issuables/target.ts';
import type { NoteRow } from '../notes/note_row.ts';

export const mayResolve = ({ viewer }: Call, loaded: LoadedNoteable): boolean =>
  may(viewer, 'resolve_discussion', loaded.project, { author_id: loaded.target.author_id }) &&
  !isLockedFor(viewer, loaded);

/**
 * Requires a thread and a caller who may resolve it: a developer or the author of the target.
 * @throws Failure 403
 */
export const requireResolver = (call: Call, loaded: LoadedNoteable, notes: readonly NoteRow[]): void => {
  if (!mayResolve(call, loaded) || !notes.some((note) => note.resolvable === 1)) throw forbidden();
};

/** Limit of comments in a discussion, because a discussion is always read whole. */
const maxNotes = 1_000;

/** @throws Failure 400 if a discussion with this many comments is full */
export const requireNoteQuota = (count: number): void => {
  if (count >= maxNotes) throw invalid({ base: ['Maximum number of comments exceeded'] });
};

/**
 * Requires a discussion that accepts replies: no system note, and not full.
 * @throws Failure 400
 */
export const requireReplyable = (notes: readonly [NoteRow, ...NoteRow[]]): void => {
  if (notes[0].system === 1) throw badRequest('Discussion can not be replied to.');
  requireNoteQuota(notes.length);
};

/** Requires that a reply is not to be internal where the others are not. @throws Failure 400 */
export const requireSameAudience = ([lead]: readonly [NoteRow, ...NoteRow[]], internal: boolean): void => {
  if (internal && lead.internal === 0)
    throw invalid({ confidential: ['reply should have same confidentiality as top-level note'] });
};
