import type { Call } from '../access/call.ts';
import { may } from '../access/may.ts';
import { badRequest, forbidden, invalid } from '../errors.ts';
import type { Found } from '../issuables/target.ts';
import type { NoteRow } from '../notes/json.ts';

export const mayResolve = ({ viewer }: Call, { project, target }: Found): boolean =>
  may(viewer, 'resolve_discussion', project, { author_id: target.author_id });

/**
 * Discussions are resolved by developers, and by the author of what they are on; only threads can be.
 * @throws Failure 403
 */
export const requireResolver = (call: Call, found: Found, notes: readonly NoteRow[]): void => {
  if (!mayResolve(call, found) || !notes.some((note) => note.resolvable === 1)) throw forbidden();
};

/** Comments of one discussion, which is always read whole. */
const mostNotes = 1_000;

/** @throws Failure 400 where a discussion of so many comments takes no other: none grows without end */
export const requireRoom = (count: number): void => {
  if (count >= mostNotes) throw invalid({ base: ['Maximum number of comments exceeded'] });
};

/**
 * What the service itself noted is not answered, nor is a discussion that is full.
 * @throws Failure 400
 */
export const requireReplyable = (notes: readonly [NoteRow, ...NoteRow[]]): void => {
  if (notes[0].system === 1) throw badRequest('Discussion can not be replied to.');
  requireRoom(notes.length);
};
